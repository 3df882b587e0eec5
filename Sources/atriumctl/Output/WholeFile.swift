import Glibc

/// Where a command writes: a file that is there whole or not at all, a device or a pipe, or standard output.
///
/// Others see what stood there or all of the new text, never a part. What a link leads to is replaced, not the link.
struct WholeFile: ~Copyable {
    private let descriptor: Int32
    /// The file's path; nil: standard output.
    let path: String?
    /// What is written first, and then gets the file's name; nil: nothing is, since a device or a pipe has no parts.
    private let draft: String?
    /// The path that the draft gets: where a link leads, which stays.
    private let target: String
    private let replaces: Bool

    /// Opens it.
    ///
    /// - Parameters:
    ///   - path: where it is to be; nil for standard output.
    ///   - replaces: whether a file that is there is replaced.
    ///   - mode: who may read it, whatever the umask; by default its owner alone: a backup holds who voted for what.
    /// - Throws: ``CommandFailure`` where there is one already, or none can be made.
    init(_ path: String?, replaces: Bool, mode: mode_t = 0o600) throws {
        var opened: (descriptor: Int32, draft: String?, target: String) = (STDOUT_FILENO, nil, "")
        if let path {
            opened =
                InputFile.isStream(path)
                ? try Self.stream(path) : try Self.draft(of: path, replaces: replaces, mode)
        }
        (self.path, self.replaces) = (path, replaces)
        (descriptor, draft, target) = opened
    }

    private static func stream(
        _ path: String
    ) throws -> (descriptor: Int32, draft: String?, target: String) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        return (descriptor, nil, path)
    }

    private static func draft(
        of path: String, replaces: Bool, _ mode: mode_t
    ) throws -> (descriptor: Int32, draft: String?, target: String) {
        try check(path, replaces: replaces)
        let target = InputFile.followed(path)
        // Hidden, and with another ending: node_exporter reads every *.prom in its folder.
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
        let name = "\(folder).\(target.dropFirst(folder.count)).\(getpid())"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure("make", path) }
        DraftRemoval.arm(name)
        fchmod(descriptor, mode)
        return (descriptor, name, target)
    }

    deinit {
        guard path != nil else { return }
        close(descriptor)
        if draft != nil { DraftRemoval.remove() }
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
    ///
    /// - Parameter isDurable: whether to wait for the disk; not for what is written anew every few seconds.
    /// - Throws: ``CommandFailure`` with the system's reason; what stood there stays then.
    func finish(isDurable: Bool = true) throws {
        guard let path, let draft else { return }
        guard !isDurable || fsync(descriptor) == 0 else { throw Self.failure("write", path) }
        try Self.check(path, replaces: replaces)
        guard rename(draft, target) == 0 else { throw Self.failure("replace", path) }
        guard isDurable else { return }
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
        let handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        // A folder that can't be synced is no reason to say that there is no backup.
        fsync(handle)
        close(handle)
    }

    private static func check(_ path: String, replaces: Bool) throws {
        try InputFile.checkMayBeFile(path)
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
