import Glibc

/// A file that others read at any time: they see the text before or the text after, never a part.
enum WholeFile {
    /// Writes a file by way of another beside it, which takes its place.
    ///
    /// - Parameters:
    ///   - text: All it is to hold.
    ///   - path: Where; with mode 0644. What a link there leads to is replaced, not the link. A device or a
    ///     pipe can't be: it is written to.
    /// - Throws: ``CommandFailure`` with the system's reason; what stood there stays then.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        guard InputFile.exists(path) || errno == ENOENT else { throw failure("write", path) }
        try InputFile.checkMayBeFile(path)
        let bytes = Array(text.utf8)
        guard InputFile.isStream(path) else {
            // Not what the umask leaves: another user's collector reads it.
            let draft = try FileDraft(of: path, mode: 0o644)
            do throws(CommandFailure) {
                try draft.write(bytes)
                try draft.finish(isSynced: false)
            } catch {
                unlink(draft.path)
                throw error
            }
            return
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        try Output.write(bytes, to: descriptor, named: path)
    }

    private static func failure(_ what: String, _ path: String) -> CommandFailure {
        CommandFailure("can't \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
