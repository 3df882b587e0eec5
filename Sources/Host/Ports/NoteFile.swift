import Glibc
import Logging

/// The small files beside the store with which a process leaves a note for the next one.
enum NoteFile {
    /// Opens a note with flags as for open(2), and returns the descriptor, -1 if there is none; if something else is
    /// at its path, such as a named pipe or a symbolic link, that is logged and left as it is.
    static func open(_ path: String, _ flags: Int32, _ logger: Logger) -> Int32 {
        // Without O_NONBLOCK a named pipe would keep the start waiting for a writer. Notes are emptied, so a link must
        // not lead to another file.
        let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600)
        var code = errno
        var info = stat()
        if descriptor >= 0 {
            guard fstat(descriptor, &info) != 0 || info.st_mode & S_IFMT != S_IFREG else {
                return descriptor
            }
            close(descriptor)
            code = 0
        }
        guard code != ENOENT else { return -1 }
        let reason =
            switch code {
            case 0: "it is no regular file"
            case ELOOP: "it is a symbolic link"
            default: String(cString: strerror(code))
            }
        logger.warning(
            "a note of the daemon's own can't be used: it does not know which plugin made it crash",
            metadata: ["path": "\(path)", "reason": "\(reason): remove it"])
        return -1
    }
}
