/// What is still to be listed and read, each once, in the order in which it came.
struct Workload {
    private var folders: [FilePath] = []
    private var knownFolders: Set<FilePath> = []
    private var files: [FilePath] = []
    private var knownFiles: Set<FilePath> = []
    /// How many files have been handed out since ``files`` was made shorter.
    private var done = 0

    /// How many files are handed out at once.
    static let mostFiles = 256

    mutating func list(_ folder: FilePath) {
        if knownFolders.insert(folder).inserted { folders.append(folder) }
    }

    mutating func read(_ file: FilePath) {
        if knownFiles.insert(file).inserted { files.append(file) }
    }

    mutating func nextFolders(_ most: Int) -> [FilePath] {
        let next = Array(folders.prefix(most))
        folders.removeFirst(next.count)
        knownFolders.subtract(next)
        return next
    }

    mutating func nextFiles() -> [FilePath] {
        let next = Array(files[done...].prefix(Self.mostFiles))
        done += next.count
        if done == files.count { (files, done) = ([], 0) }
        knownFiles.subtract(next)
        return next
    }
}

/// Some folders as they were found at one time, and the one that they lie in.
struct Round: Sendable {
    /// The folder that all lie in.
    struct Root {
        let device: UInt64
        let isEmpty: Bool
    }

    let root: Result<Root, FolderListing.Problem>
    private(set) var listings: [(FilePath, Result<FolderListing, FolderListing.Problem>)] = []

    /// Lists folders, unless the one that they lie in can't be read.
    init(of paths: [FilePath], below folder: String) {
        for path in paths {
            listings.append(
                (
                    path,
                    Result { () throws(FolderListing.Problem) in
                        try FolderListing(of: path, below: folder)
                    }
                ))
        }
        // Last: what was listed after the folder went away, or while it did, is not believed.
        root = Result { () throws(FolderListing.Problem) in
            let listing = try FolderListing(of: .root, below: folder)
            return Root(
                device: listing.device, isEmpty: listing.files.isEmpty && listing.folders.isEmpty)
        }
    }
}

extension Reading {
    /// Reads files for some time: the first ones, at least one.
    static func some(of paths: [FilePath], below folder: String) -> [Reading] {
        let end = ContinuousClock.now + .milliseconds(200)
        var readings: [Reading] = []
        for path in paths {
            readings.append(Reading(of: path, below: folder))
            guard ContinuousClock.now < end, !Task.isCancelled else { break }
        }
        return readings
    }
}
