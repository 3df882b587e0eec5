internal import CTags
internal import Glibc

/// What an audio file says of itself.
struct Tags: Sendable, Hashable {
    var title = ""
    var artists: [String] = []
    var album = ""
    var albumArtists: [String] = []
    var composers: [String] = []
    var genres: [String] = []
    var comment = ""
    var track: Int?
    var disc: Int?
    var year: Int?
    /// Of the sound, in whole seconds.
    var seconds = 0
    /// Kilobits a second.
    var bitrate = 0
    /// From 0 to 5 stars.
    var rating: Double?
    var hasCover = false
}

/// A file as it was read, or why it could not be.
struct Reading: Sendable {
    /// What was found.
    enum Outcome: Sendable {
        case tags(Tags)
        case broken(String)
        /// It is no longer there.
        case gone
    }

    let path: FilePath
    /// What the file was when it was opened; nil: it could not be.
    let stamp: Stamp?
    let outcome: Outcome

    /// Reads the tags of a file below `root`.
    init(of path: FilePath, below root: String) {
        self.path = path
        do throws(OpenFile.Problem) {
            let file = try OpenFile(path, below: root)
            stamp = file.stamp
            outcome = Self.tags(of: file)
        } catch {
            stamp = nil
            outcome = error.isGone ? .gone : .broken(error.reason)
        }
    }

    private static func tags(of file: OpenFile) -> Outcome {
        var numbers = tags_numbers()
        var tags = Tags()
        let read = withUnsafeMutablePointer(to: &tags) { tags in
            tags_read(
                file.descriptor, file.path, &numbers,
                { context, name, text, length in
                    guard let name, let text,
                        let tags = context?.assumingMemoryBound(to: Tags.self)
                    else { return }
                    let bytes = UnsafeRawBufferPointer(start: text, count: length)
                    tags.pointee.take(String(cString: name), Text.cleaned(bytes))
                }, tags)
        }
        switch read {
        case TAGS_READ:
            tags.seconds = (max(0, Int(numbers.milliseconds)) + 500) / 1_000
            tags.bitrate = max(0, Int(numbers.bitrate))
            tags.rating = numbers.rating >= 0 ? numbers.rating : nil
            tags.hasCover = numbers.has_cover != 0
            return .tags(tags)
        case TAGS_TOO_LARGE: return .broken("its tags take more memory than there is")
        case TAGS_TOO_LONG:
            return .broken("too much of it would have to be read to find its sound")
        default: return .broken("it holds no sound that TagLib knows")
        }
    }
}

/// A regular file that is open to read; who takes its descriptor closes it.
struct OpenFile {
    let descriptor: Int32
    let path: [CChar]
    let stamp: Stamp

    /// Why it can't be opened.
    struct Problem: Error {
        let code: Int32
        let reason: String
        var isGone: Bool { code == ENOENT || code == ENOTDIR }
    }

    /// Opens a file; a link, a pipe or a device is not opened.
    init(_ path: FilePath, below root: String) throws(Problem) {
        self.path = path.absolute(below: root)
        descriptor = open(self.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Problem(code: errno, reason: String(cString: strerror(errno)))
        }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Problem(code: EINVAL, reason: "it is no regular file")
        }
        stamp = Stamp(info)
    }
}

extension Tags {
    /// Takes one value of a tag, under TagLib's name of it.
    fileprivate mutating func take(_ name: String, _ text: String) {
        guard !text.isEmpty else { return }
        switch name {
        case "TITLE": if title.isEmpty { title = text }
        case "ALBUM": if album.isEmpty { album = text }
        case "COMMENT": if comment.isEmpty { comment = text }
        case "ARTIST": Self.add(text, to: &artists)
        case "ALBUMARTIST": Self.add(text, to: &albumArtists)
        case "COMPOSER": Self.add(text, to: &composers)
        case "GENRE":
            for genre in text.split(separator: ";") {
                Self.add(Text.cleaned(genre.utf8), to: &genres)
            }
        case "TRACKNUMBER": track = track ?? Self.number(text)
        case "DISCNUMBER": disc = disc ?? Self.number(text)
        case "DATE": year = year ?? Self.number(text)
        default: break
        }
    }

    /// The most values of one tag that are kept.
    private static let mostValues = 32

    private static func add(_ text: String, to values: inout [String]) {
        guard !text.isEmpty, values.count < mostValues, !values.contains(text) else { return }
        values.append(text)
    }

    /// The number that a text begins with: `3` of `03/12`, `1999` of `1999-12-31`.
    private static func number(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return digits.count <= 9 ? Int(digits) : nil
    }
}
