/// What is known of the folder: which files and folders lie in it, and the tracks that were read.
///
/// A value that takes what was seen, and returns what to do: it touches no file.
struct Library {
    private struct File {
        /// What it was when it was read; nil: it was not yet.
        var stamp: Stamp?
        /// The id of its item; nil: it has none.
        var id: String?
        /// Why it could not be read.
        var problem: String?
    }

    private struct Folder {
        var files: [[UInt8]: File] = [:]
        var folders: Set<[UInt8]> = []
        /// Which one it was when it was listed; nil: it was not yet.
        var identity: FolderListing.Identity?
        /// Why it could not be read; what was known of it is kept.
        var problem: String?
    }

    private var folders: [FilePath: Folder] = [:]
    /// The tracks by the ids of their items.
    private(set) var tracks: [String: Track] = [:]
    /// Files that could not be read.
    private var broken: Set<FilePath> = []
    /// Those among them that could not even be opened: no notification comes when they can be.
    private(set) var closedFiles: Set<FilePath> = []
    /// Folders that could not be read.
    private(set) var closed: Set<FilePath> = []
    /// Files whose paths are one text in NFC, where there may be several, by that text.
    private var spellings: [String: Set<FilePath>] = [:]

    /// What follows from a listing.
    struct Steps {
        /// Folders that are new, to be listed.
        var unlisted: [FilePath] = []
        /// Folders that are in the place of others, or lie in such a one: to be watched and listed anew.
        var replaced: [FilePath] = []
        /// Files that are new, or other than when they were read, or whose id may be another now.
        var unread: [FilePath] = []
        var goneFolders: [FilePath] = []
        var goneItems: [String] = []
    }

    /// Whether a folder is known, or the one that it lies in knows of it.
    func hasOrExpects(_ folder: FilePath) -> Bool {
        folders[folder.folder]?.folders.contains(folder.name) ?? false
    }

    /// All folders, listed or not.
    var allFolders: Set<FilePath> { foldersBelow(.root).union([.root]) }

    private func foldersBelow(_ path: FilePath) -> Set<FilePath> {
        var found: Set<FilePath> = []
        var next = [path]
        while let path = next.popLast() {
            for name in folders[path]?.folders ?? [] {
                let inner = path.appending(name)
                found.insert(inner)
                next.append(inner)
            }
        }
        return found
    }

    /// Takes what lies in a folder.
    mutating func take(_ listing: FolderListing, of path: FilePath) -> Steps {
        var steps = Steps()
        // Taken out while it is changed: it is not copied.
        var folder = folders.removeValue(forKey: path) ?? Folder()
        for name in folder.folders.subtracting(listing.folders).sorted(by: precedes) {
            remove(path.appending(name), &steps)
        }
        for name in listing.folders.subtracting(folder.folders).sorted(by: precedes) {
            steps.unlisted.append(path.appending(name))
        }
        for (name, file) in folder.files where listing.files[name] == nil {
            forget(file, path.appending(name), &steps)
            folder.files[name] = nil
        }
        for (name, stamp) in listing.files.sorted(by: { precedes($0.key, $1.key) })
        where folder.files[name, default: File()].stamp != stamp {
            let file = path.appending(name)
            if folder.files[name] == nil {
                folder.files[name] = File()
                note(file, &steps)
            }
            steps.unread.append(file)
        }
        let isAnother = folder.identity.map { $0 != listing.identity } ?? false
        folder.folders = listing.folders
        (folder.identity, folder.problem) = (listing.identity, nil)
        closed.remove(path)
        folders[path] = folder
        if isAnother { steps.replaced = [path] + foldersBelow(path).sorted() }
        return steps
    }

    /// Takes that a folder can't be read.
    mutating func take(_ problem: FolderListing.Problem, of path: FilePath) -> Steps {
        var steps = Steps()
        if problem.isGone {
            remove(path, &steps)
            folders[path.folder]?.folders.remove(path.name)
        } else {
            folders[path, default: Folder()].problem = problem.reason
            closed.insert(path)
        }
        return steps
    }

    /// What follows from reading a file.
    struct Change {
        /// What its item is now.
        let id: String
        let track: Track
        /// Whether there was no item of this id.
        let isNew: Bool
        /// The item that it was before, which is gone.
        let gone: String?
    }

    /// Takes a file that was read; nil where its item stays as it was.
    mutating func take(_ reading: Reading) -> Change? {
        let path = reading.path
        guard var file = folders[path.folder]?.files[path.name] else { return nil }
        defer { folders[path.folder]?.files[path.name] = file }
        broken.remove(path)
        closedFiles.remove(path)
        switch reading.outcome {
        case .gone: return nil
        case .broken(let problem):
            // What was read of it before stays.
            (file.stamp, file.problem) = (reading.stamp, problem)
            broken.insert(path)
            if reading.stamp == nil { closedFiles.insert(path) }
            return nil
        case .tags(let tags):
            (file.stamp, file.problem) = (reading.stamp, nil)
            let (before, id) = (file.id, self.id(of: path))
            file.id = id
            let isMoved = before.map { $0 != id && remove(itemOf: path, $0) } ?? false
            let track = Track(path: path, tags: tags, modified: reading.stamp?.modified ?? 0)
            let old = tracks.updateValue(track, forKey: id)
            guard old != track else { return nil }
            return Change(id: id, track: track, isNew: old == nil, gone: isMoved ? before : nil)
        }
    }

    /// What can't be read, in a sentence; nil: all can.
    func problem(below root: String) -> String? {
        var parts: [String] = []
        if let first = closed.min(), let why = folders[first]?.problem {
            parts.append(
                "\(Self.count(closed.count, "folder")) can't be read, such as '\(first.shown)': \(why)"
            )
        }
        if let first = broken.min(), let why = folders[first.folder]?.files[first.name]?.problem {
            parts.append(
                "\(Self.count(broken.count, "file")) can't be read, such as '\(first.shown)': \(why)"
            )
        }
        return parts.isEmpty ? nil : "In \(root): \(parts.joined(separator: "; "))."
    }

    private static func count(_ number: Int, _ what: String) -> String {
        number == 1 ? "1 \(what)" : "\(number) \(what)s"
    }

    /// The path itself in NFC; of several that are the same text, the one whose name is in NFC has that, or else the
    /// first, in whatever order they are read.
    private func id(of path: FilePath) -> String {
        guard let id = path.textID else { return path.digest }
        // Most have but one spelling.
        guard let others = spellings[id], others.count > 1 else { return id }
        let normal = FilePath(bytes: Array(id.utf8))
        return (others.contains(normal) ? normal : others.min()) == path ? id : path.digest
    }

    /// A file is there, or not any more: the others of its text are to have the ids that they have now.
    private mutating func note(_ path: FilePath, isThere: Bool = true, _ steps: inout Steps) {
        guard let id = path.sharedID else { return }
        steps.unread += spellings[id, default: []].subtracting([path])
        if isThere {
            spellings[id, default: []].insert(path)
        } else {
            spellings[id]?.remove(path)
            if spellings[id]?.isEmpty == true { spellings[id] = nil }
        }
    }

    /// Removes an item, unless it is another file's.
    private mutating func remove(itemOf path: FilePath, _ id: String) -> Bool {
        guard tracks[id]?.path == path else { return false }
        return tracks.removeValue(forKey: id) != nil
    }

    private mutating func remove(_ path: FilePath, _ steps: inout Steps) {
        guard let folder = folders.removeValue(forKey: path) else { return }
        closed.remove(path)
        steps.goneFolders.append(path)
        for (name, file) in folder.files { forget(file, path.appending(name), &steps) }
        for name in folder.folders { remove(path.appending(name), &steps) }
    }

    private mutating func forget(_ file: File, _ path: FilePath, _ steps: inout Steps) {
        broken.remove(path)
        closedFiles.remove(path)
        note(path, isThere: false, &steps)
        if let id = file.id, remove(itemOf: path, id) { steps.goneItems.append(id) }
    }
}

private func precedes(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.lexicographicallyPrecedes(other)
}
