internal import AtriumKit

/// What is known of the folder: which files and folders lie in it, and the tracks that were read.
///
/// A value that is told what was seen, and answers what to do: it touches no file.
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
        /// Why it could not be read; what was known of it is kept.
        var problem: String?
    }

    private var folders: [FilePath: Folder] = [:]
    /// The tracks by the ids of their items.
    private(set) var tracks: [String: Track] = [:]
    /// Files that could not be read.
    private var broken: Set<FilePath> = []
    /// Folders that could not be read.
    private var closed: Set<FilePath> = []

    /// What follows from a listing.
    struct Steps {
        /// Folders that are new, to be listed.
        var unlisted: [FilePath] = []
        /// Files that are new, or other than when they were read.
        var unread: [FilePath] = []
        /// Folders that are gone.
        var goneFolders: [FilePath] = []
        /// Items that are gone.
        var goneItems: [String] = []
    }

    /// Whether a folder is known, or the one that it lies in knows of it.
    func hasOrExpects(_ folder: FilePath) -> Bool {
        folders[folder.folder]?.folders.contains(folder.name) ?? false
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
            folder.files[name] = folder.files[name] ?? File()
            steps.unread.append(path.appending(name))
        }
        folder.folders = listing.folders
        folder.problem = nil
        closed.remove(path)
        folders[path] = folder
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

    /// Takes a file that was read.
    ///
    /// - Returns: what its item is now, and whether there was none before; nil where that stays as it was.
    mutating func take(_ reading: Reading) -> (id: String, track: Track, isNew: Bool)? {
        let path = reading.path
        guard var file = folders[path.folder]?.files[path.name] else { return nil }
        defer { folders[path.folder]?.files[path.name] = file }
        broken.remove(path)
        switch reading.outcome {
        case .gone: return nil
        case .broken(let problem):
            // What was read of it before stays.
            (file.stamp, file.problem) = (reading.stamp, problem)
            broken.insert(path)
            return nil
        case .tags(let tags):
            (file.stamp, file.problem) = (reading.stamp, nil)
            let id = file.id ?? freeID(for: path)
            file.id = id
            let track = Track(path: path, tags: tags, modified: reading.stamp?.modified ?? 0)
            let old = tracks.updateValue(track, forKey: id)
            return old == track ? nil : (id, track, old == nil)
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

    /// The path itself, unless a name that is the same text in another form has that id.
    private func freeID(for path: FilePath) -> String {
        let id = path.itemID
        return tracks[id] == nil ? id : path.digest
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
        guard let id = file.id, tracks.removeValue(forKey: id) != nil else { return }
        steps.goneItems.append(id)
    }
}

private func precedes(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.lexicographicallyPrecedes(other)
}
