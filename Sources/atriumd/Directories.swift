import Foundation
import Glibc

/// Creates the directories to which the daemon writes.
enum Directories {
    /// Creates a directory, with these permissions, and its parents.
    static func make(_ path: String, mode: mode_t) throws(DaemonError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: Int(mode)])
        } catch {
            let code = Self.code(of: error)
            let reason =
                code == EEXIST ? "a file is there" : String(cString: strerror(code))
            throw DaemonError(
                "can't make the directory \(path): \(reason)"
                    + (code == EROFS
                        ? "; a service of systemd writes there with ReadWritePaths=\(path) in a "
                            + "drop-in" : ""),
                status: status(of: code), errno: code)
        }
        try checkOwner(path)
    }

    private static func status(of code: Int32) -> StartFailure.Status {
        switch code {
        case ENOSPC, EDQUOT: .temporary
        case EEXIST, ENOTDIR: .configuration
        default: .permission
        }
    }

    /// The system's error number in an error of Foundation's.
    private static func code(of error: any Error) -> Int32 {
        if (error as? CocoaError)?.code == .fileWriteVolumeReadOnly { return EROFS }
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        return (underlying as? POSIXError)?.code.rawValue ?? EACCES
    }

    /// Checks that the directory used in place of `XDG_RUNTIME_DIR` belongs to this user and is closed to others.
    ///
    /// Its parent is writable by everyone, so another user could have created it first, with a socket in it.
    /// Directories that are configured are not checked.
    private static func checkOwner(_ path: String) throws(DaemonError) {
        guard path == "/tmp/atrium-\(getuid())" else { return }
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw DaemonError("\(path) is no directory: remove it, or set --socket")
        }
        guard info.st_uid == getuid() else {
            throw DaemonError("\(path) belongs to user \(info.st_uid), not to us: set --socket")
        }
        chmod(path, 0o700)
    }
}
