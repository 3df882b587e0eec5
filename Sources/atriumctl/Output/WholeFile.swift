import Glibc

/// Where a command writes: a file that is there whole or not at all, a device or a pipe, or standard output.
///
/// Others see what stood there or all of the new text, never a part. What a link leads to is replaced, not the link.
struct WholeFile: ~Copyable {
    /// What is written first, and then gets the file's name; nil: nothing is, since a device or a pipe has no parts.
    private let draft: FileDraft?
    /// Standard output, a device or a pipe; -1 with a draft.
    private let stream: Int32
    /// The file's path; nil: standard output.
    let path: String?
    private let replaces: Bool

    /// Opens it at a path, nil for standard output, with these permissions whatever the umask is: by default for its
    /// owner alone, as a backup holds who voted for what.
    init(_ path: String?, replaces: Bool, mode: mode_t = 0o600) throws(CommandFailure) {
        (self.path, self.replaces) = (path, replaces)
        guard let path else {
            (draft, stream) = (nil, STDOUT_FILENO)
            return
        }
        guard !InputFile.isStream(path) else {
            let stream = open(path, O_WRONLY | O_CLOEXEC)
            guard stream >= 0 else {
                throw CommandFailure("can't open \(path): \(String(cString: strerror(errno)))")
            }
            (draft, self.stream) = (nil, stream)
            return
        }
        try Self.check(path, replaces: replaces)
        let draft = try FileDraft(of: path, mode: mode)
        DraftRemoval.arm(draft.path)
        (self.draft, stream) = (draft, -1)
    }

    deinit {
        if draft != nil { return DraftRemoval.remove() }
        if path != nil { close(stream) }
    }

    /// Appends bytes to the file; throws where they can't be written, also if the reader of a pipe left.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        guard let draft else {
            return try Output.write(bytes, to: stream, named: path ?? "standard output")
        }
        try draft.write(bytes)
    }

    /// Gives it its name, once it is on the disk if it is to be durable; after an error what stood there stays.
    ///
    /// What is written anew every few seconds need not be durable.
    func finish(isDurable: Bool = true) throws(CommandFailure) {
        guard let path, let draft else { return }
        try Self.check(path, replaces: replaces)
        try draft.finish(isDurable: isDurable)
        DraftRemoval.disarm()
    }

    private static func check(_ path: String, replaces: Bool) throws(CommandFailure) {
        try InputFile.checkMayBeFile(path)
        guard replaces || !InputFile.exists(path) else {
            throw CommandFailure(
                "there is a file \(path) already",
                hint: "--force replaces it once the new one is whole.")
        }
    }
}

/// Removes the draft of a file also where a signal ends the command.
private enum DraftRemoval {
    /// Read by the handler of signals.
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

    /// The draft has its file's name; another process may make one of the same name.
    static func disarm() { path = nil }

    static func remove() { if let path { unlink(path) } }
}
