import Glibc

/// A file that is written beside another one, whose place it then takes: readers see the file before or the file after,
/// never a part.
///
/// It is hidden, and has another ending: node_exporter reads every *.prom in its folder. Its name is the same each time,
/// so that what a killed process left is written over, and does not stay. A lock keeps two processes from writing it at
/// once.
final class FileDraft {
    private let descriptor: Int32
    let path: String
    /// The file whose place it takes: where a link leads, which stays.
    private let target: String
    /// The target as it was named, for people.
    private let name: String

    /// Makes an empty file that is to take the place of another, with these permissions whatever the umask is; throws
    /// where it can't be made, or another process is writing it.
    init(of name: String, mode: mode_t) throws(CommandFailure) {
        let target = InputFile.followed(name)
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? ""
        let path = "\(folder).\(target.dropFirst(folder.count)).part"
        (self.target, self.name, self.path) = (target, name, path)
        descriptor = try Self.open(path, for: name)
        guard fchmod(descriptor, mode) == 0, ftruncate(descriptor, 0) == 0 else {
            throw Self.failure("write", path)
        }
    }

    deinit { close(descriptor) }

    private static func open(_ path: String, for name: String) throws(CommandFailure) -> Int32 {
        while true {
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure("make", path) }
            var (own, there) = (stat(), stat())
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let reason = errno
                close(descriptor)
                guard reason == EWOULDBLOCK else { throw failure("lock", path, reason) }
                throw CommandFailure("another process is writing \(name), by way of \(path)")
            }
            // Before the lock was taken, another process may have given the file its name.
            if fstat(descriptor, &own) == 0, lstat(path, &there) == 0, own.st_ino == there.st_ino {
                if own.st_mode & S_IFMT == S_IFREG, own.st_uid == geteuid(), own.st_nlink == 1 {
                    return descriptor
                }
                close(descriptor)
                throw CommandFailure(
                    "can't write \(path): it is not a file of this user's own",
                    hint: "remove it, or write into another folder.")
            }
            close(descriptor)
        }
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        try Output.write(bytes, to: descriptor, named: name)
    }

    /// Has it take the place of the file, once it is on the disk if it is to be durable; after an error the file is
    /// what it was.
    func finish(isDurable: Bool) throws(CommandFailure) {
        guard !isDurable || fsync(descriptor) == 0 else { throw Self.failure("write", name) }
        guard rename(path, target) == 0 else { throw Self.failure("replace", name) }
        guard isDurable else { return }
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
        let handle = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { return }
        // A folder that can't be synced is no reason to say that there is no file.
        fsync(handle)
        close(handle)
    }

    private static func failure(
        _ what: String, _ path: String, _ code: Int32 = errno
    ) -> CommandFailure {
        CommandFailure("can't \(what) \(path): \(String(cString: strerror(code)))")
    }
}
