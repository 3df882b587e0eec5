import Glibc

/// Where a backup is written: a file that is there whole or not at all, or standard output.
///
/// Only who writes it may read the file: it holds who voted for what.
struct BackupFile: ~Copyable {
    private let descriptor: Int32
    /// The file's path; nil: standard output.
    let path: String?
    private let draft: String
    private let replaces: Bool

    /// Opens it.
    ///
    /// - Parameters:
    ///   - path: where it is to be; nil for standard output.
    ///   - replaces: whether a file that is there is replaced.
    /// - Throws: ``CommandFailure`` where there is one already, or none can be made.
    init(_ path: String?, replaces: Bool) throws {
        var (opened, name) = (STDOUT_FILENO, "")
        if let path {
            try Self.check(path, replaces: replaces)
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { String(path[...$0]) } ?? ""
            name = "\(folder).\(path.dropFirst(folder.count)).\(getpid())"
            opened = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard opened >= 0 else { throw Self.failure("make", path) }
            DraftRemoval.arm(name)
        }
        (self.path, self.replaces) = (path, replaces)
        (descriptor, draft) = (opened, name)
    }

    deinit {
        guard path != nil else { return }
        close(descriptor)
        DraftRemoval.remove()
    }

    /// Appends bytes to the file.
    func write(_ bytes: [UInt8]) throws {
        guard path != nil else { return Output.bytes(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw Self.failure("write", path ?? "") }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// Gives it its name, once it is on the disk.
    func finish() throws {
        guard let path else { return }
        guard fsync(descriptor) == 0 else { throw Self.failure("write", path) }
        try Self.check(path, replaces: replaces)
        guard rename(draft, path) == 0 else { throw Self.failure("replace", path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        // A folder that can't be synced is no reason to say that there is no backup.
        fsync(handle)
        close(handle)
    }

    private static func check(_ path: String, replaces: Bool) throws {
        guard !InputFile.isFolder(path) else {
            throw CommandFailure("\(path) is a folder", hint: "name a file in it.", status: .usage)
        }
        guard replaces || !InputFile.exists(path) else {
            throw CommandFailure(
                "there is a file \(path) already",
                hint: "--force replaces it once the new one is whole.")
        }
    }

    private static func failure(_ what: String, _ path: String) -> CommandFailure {
        CommandFailure("can't \(what) \(path): \(String(cString: strerror(errno)))")
    }
}

/// Removes the draft of a file also where a signal ends the command.
private enum DraftRemoval {
    /// Set before the signals are handled, and only read then.
    private nonisolated(unsafe) static var path: UnsafeMutablePointer<CChar>?

    static func arm(_ draft: String) {
        path = strdup(draft)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // Nothing but what may be called in a signal's handler.
                DraftRemoval.remove()
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func remove() { if let path { unlink(path) } }
}
