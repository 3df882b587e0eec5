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
    static func write(_ text: String, to path: String) throws {
        guard InputFile.exists(path) || errno == ENOENT else { throw failure("write", path) }
        try InputFile.checkMayBeFile(path)
        guard InputFile.isStream(path) else {
            return try replace(InputFile.followed(path), with: text)
        }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        try fill(descriptor, Array(text.utf8), path)
        close(descriptor)
    }

    private static func replace(_ path: String, with text: String) throws {
        // Hidden, and with another ending: node_exporter reads every *.prom in its folder.
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        let draft = "\(folder).\(name).\(getpid())"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("make", path) }
        do {
            // Not what the umask leaves: another user's collector reads it.
            fchmod(descriptor, 0o644)
            try fill(descriptor, Array(text.utf8), path)
            guard close(descriptor) == 0 else { throw failure("write", path) }
            guard rename(draft, path) == 0 else { throw failure("replace", path) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    private static func fill(_ descriptor: Int32, _ bytes: [UInt8], _ path: String) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                let problem = failure("write", path)
                close(descriptor)
                throw problem
            }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func failure(_ what: String, _ path: String) -> CommandFailure {
        CommandFailure("can't \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
