import Glibc
import Store

/// `atriumd --restore FILE`: puts a backup in the place of the store, without starting.
struct Restore {
    let settings: DaemonSettings

    /// Restores, and prints what it did.
    ///
    /// - Parameters:
    ///   - file: the backup; `-` is standard input.
    ///   - replacing: whether a store that is there is kept aside.
    /// - Throws: `RestoreError` or `DaemonError`: all is as it was.
    func run(_ file: String, replacing: Bool) throws {
        let source = try open(file)
        let folder = settings.stateDirectory
        try Directories.make(folder, mode: 0o750)
        try Self.becomeOwner(of: folder)
        let restore = try StoreRestore(
            from: source, named: file == "-" ? "standard input" : file, to: folder)
        let restored = try restore.run(replacing: replacing)
        print("restored \(restored.bytes) bytes to \(folder): sequence \(restored.sequence)")
        if let kept = restored.kept {
            print("the store that was there is kept in \(kept): remove it once all is well")
        }
        print(
            "the store is \(restored.identity) from now on: who follows from a number of before is told "
                + "that something is missing")
        print("next: start the daemon, as with: systemctl start atriumd.socket atriumd")
    }

    /// Opened first: root may read what the daemon's user may not.
    private func open(_ file: String) throws -> Int32 {
        guard file != "-" else { return STDIN_FILENO }
        var status = stat()
        guard stat("\(file)-wal", &status) != 0 || status.st_size == 0 else {
            throw RestoreError.withLog(file: file)
        }
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RestoreError.unreadable(file: file, reason: String(cString: strerror(errno)))
        }
        return descriptor
    }

    /// Goes on as the owner of the state directory, where root restores what is a service's.
    ///
    /// The files are the service's then; and what it may have put into its directory, such as a link, leads root
    /// nowhere.
    private static func becomeOwner(of folder: String) throws {
        var status = stat()
        guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
        guard setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0 else {
            throw DaemonError(
                "can't go on as the user \(status.st_uid), who owns \(folder): "
                    + String(cString: strerror(errno)), status: .permission, errno: errno)
        }
    }
}
