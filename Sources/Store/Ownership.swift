internal import Foundation

/// Exclusive ownership of a state directory, held as a lock on a separate file.
///
/// The lock is flock(2)'s: it belongs to the open file, is released whenever the process ends, and also excludes a
/// second store in the same process. It is not on the database itself, because closing any descriptor of that would
/// release SQLite's own locks.
final class Ownership: Sendable {
    private let descriptor: Int32

    /// Takes the lock, creating its file if missing; throws `.inUse` with the owner, `.notWritable`, `.noFile` or
    /// `.full`.
    init(of path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(in: descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else { throw StoreError(errno: code, file: path) }
            throw .inUse(file: path, owner: owner)
        }
        let name = "\(getpid())\n"
        // The name is only for the next process's error message, so failing to write it on a full disk is harmless.
        _ = ftruncate(descriptor, 0)
        _ = name.withCString { pwrite(descriptor, $0, name.utf8.count, 0) }
    }

    deinit {
        close(descriptor)
    }

    /// Releases the lock; the last reference does so too.
    func release() {
        flock(descriptor, LOCK_UN)
    }

    private static func owner(in descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let digits = bytes.prefix(count).prefix { $0 >= 48 && $0 <= 57 }
        return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
    }
}

extension StoreError {
    init(errno code: Int32, file: String) {
        let reason = String(cString: strerror(code))
        switch code {
        case ENOSPC, EDQUOT: self = .full(file: file, reason: reason)
        case ELOOP where StateFolder.isLink(file):
            self = .noFile(path: file, kind: "a symbolic link")
        default: self = .notWritable(file: file, reason: reason)
        }
    }
}
