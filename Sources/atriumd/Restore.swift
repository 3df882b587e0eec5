import Glibc
import Store

/// `atriumd --restore FILE`: replaces the store with a backup, without starting the daemon.
struct Restore {
    let settings: DaemonSettings
    /// The configuration file that the command line names; nil: the default one.
    let config: String?

    /// Restores the backup, or standard input for `-`, and prints the result; an existing store is kept aside if it
    /// is replaced; after an error nothing was changed.
    func run(_ file: String, replacing: Bool) throws {
        let source = try open(file)
        let folder = settings.stateDirectory
        try Directories.make(folder, mode: 0o750)
        try Self.becomeOwner(of: folder)
        let restore = try StoreRestore(
            from: source, named: file == "-" ? "standard input" : file, to: folder)
        let restored = try restore.run(replacing: replacing)
        print(
            "restored \(Self.size(restored.bytes)) to \(folder): sequence \(restored.sequence)")
        if let kept = restored.kept {
            print("the store that was there is kept in \(kept): remove it once all is well")
        }
        print(
            "the store is \(restored.identity) from now on: subscribers with an older cursor are notified "
                + "of a gap")
        print("next: start the daemon: \(start(in: folder))")
    }

    /// The command that starts the daemon that has its store in a folder: a unit of systemd's in the folders of these.
    private func start(in folder: String) -> String {
        guard let match = folder.wholeMatch(of: #/\/var\/lib\/atrium(?:-([^\/]+))?\/?/#) else {
            let file = config.map { " --config '\($0)'" } ?? ""
            return "atriumd\(file) --state-directory '\(folder)'"
        }
        let unit = "atriumd" + (match.1.map { "@\($0)" } ?? "")
        return "systemctl start \(unit).socket \(unit)"
    }

    /// Returns a number of bytes in the units in which `atriumctl backup` prints them.
    private static func size(_ bytes: Int) -> String {
        bytes < 10 << 20
            ? "\((bytes + (1 << 9)) >> 10) KiB" : "\((bytes + (1 << 19)) >> 20) MiB"
    }

    /// Opened before switching users, because the daemon's user may not be able to read it.
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

    /// Switches to the owner of the state directory if root restores a service's store.
    ///
    /// The files then belong to the service. And a link that the service may have put into its directory can't
    /// misdirect root.
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
