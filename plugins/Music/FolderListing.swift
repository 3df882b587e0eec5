internal import Glibc

/// Identifies a version of a file.
struct Stamp: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    /// Nanoseconds: when the content changed, and when anything did, which no program sets back.
    let modified: Int64
    let changed: Int64

    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
        size = Int64(info.st_size)
        modified = Self.nanoseconds(info.st_mtim)
        changed = Self.nanoseconds(info.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ Int64(time.tv_nsec)
    }
}

/// What lies right in a folder: audio files and folders.
///
/// Links and hidden names are left out.
struct FolderListing: Sendable {
    var files: [[UInt8]: Stamp] = [:]
    var folders: Set<[UInt8]> = []
    /// Which folder it is, wherever it lies.
    var identity = Identity()
    /// The file system that it is in.
    var device: UInt64 { identity.device }

    /// Identifies a folder.
    struct Identity: Hashable, Sendable {
        var device: UInt64 = 0
        var inode: UInt64 = 0
    }

    /// Names of files that end so are looked at.
    static let endings: Set = [
        "mp3", "mp2", "flac", "ogg", "oga", "opus", "spx", "m4a", "m4b", "wav", "aif", "aiff",
        "aifc", "wma", "ape", "mpc", "wv", "tta",
    ]

    /// Why a folder can't be read.
    struct Problem: Error {
        let code: Int32
        var reason: String { String(cString: strerror(code)) }
        var isGone: Bool { code == ENOENT || code == ENOTDIR }
        var isForbidden: Bool { code == EACCES }
    }

    /// Reads a folder below `root`.
    init(of path: FilePath, below root: String) throws(Problem) {
        // The root may be a link; what lies in it is not followed.
        let follow = path == .root ? 0 : O_NOFOLLOW
        let opened = open(
            path.absolute(below: root), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | follow)
        guard opened >= 0 else { throw Problem(code: errno) }
        var info = stat()
        guard fstat(opened, &info) == 0, let stream = fdopendir(opened) else {
            let code = errno
            close(opened)
            throw Problem(code: code)
        }
        defer { closedir(stream) }
        identity = Identity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name.first != UInt8(ascii: ".") { add(name, Int32(entry.pointee.d_type), opened) }
            errno = 0
        }
        guard errno == 0 else { throw Problem(code: errno) }
    }

    private mutating func add(_ name: [UInt8], _ type: Int32, _ folder: Int32) {
        let directory = Int32(DT_DIR)
        let file = Int32(DT_REG)
        let unknown = Int32(DT_UNKNOWN)
        if type == directory {
            folders.insert(name)
            return
        }
        let isAudio = Self.endings.contains(FilePath(bytes: name).ending)
        guard type == unknown || (type == file && isAudio) else { return }
        var info = stat()
        let text = (name + [0]).map(CChar.init(bitPattern:))
        // The kernel reports one that went away meanwhile.
        guard fstatat(folder, text, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: folders.insert(name)
        case S_IFREG where isAudio: files[name] = Stamp(info)
        default: break
        }
    }
}
