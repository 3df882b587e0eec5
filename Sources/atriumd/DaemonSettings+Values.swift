import Control
import Store

// What a setting of the right shape may still get wrong.
extension DaemonSettings {
    /// The least that a worker can live with.
    private static let leastWorkerMemory = 16 << 20
    /// The most that a Unix socket's address takes.
    private static let longestSocketPath = 107

    /// Refuses values that nothing could work with.
    ///
    /// - Parameter file: the configuration file.
    /// - Throws: `DaemonError` with the setting's place.
    func refuseOddValues(in file: String) throws(DaemonError) {
        let paths = [("socket", [socket]), ("stateDirectory", [stateDirectory])]
        for (key, paths) in paths + [("pluginPath", pluginPath)] {
            for path in paths {
                guard !path.isEmpty else { throw wrong(key, "expected a path, found nothing") }
                // A file has no directory of its own, and a service's is /.
                guard path.hasPrefix("/") || places[key]?.hasPrefix(file) != true else {
                    throw wrong(key, "expected a path that begins with /, found '\(path)'")
                }
            }
        }
        guard socket.utf8.count <= Self.longestSocketPath else {
            throw wrong(
                "socket",
                "expected a path of at most \(Self.longestSocketPath) bytes, "
                    + "found \(socket.utf8.count)")
        }
        guard workerMemoryMax >= Self.leastWorkerMemory else {
            throw wrong("workerMemoryMax", "expected 16M or more, which a worker needs to live")
        }
    }

    /// What is kept of the past.
    var retention: Retention {
        let day = 86_400_000
        let days = notificationDaysKept
        return Retention(
            count: notificationsKept, bytes: notificationBytesKept,
            age: days == 0 || days > 1_000_000 ? .max : Int64(days * day))
    }

    /// A setting that can't be, with its place.
    private func wrong(_ key: String, _ reason: String) -> DaemonError {
        DaemonError((places[key].map { "\($0): " } ?? "") + "\(key): \(reason)")
    }

    /// Who has which role.
    ///
    /// - Parameter groups: gives those that own the sockets; may block.
    /// - Returns: makes the table, whose problems are ``problems(of:)``; blocks, for as long as the system's
    ///   directory takes.
    /// - Throws: `DaemonError` for an entry that makes no sense, with its place.
    func roleTable(
        groups: @escaping @Sendable () -> [UInt32]
    ) throws(DaemonError) -> @Sendable () -> RoleTable {
        do throws(RoleProblem) {
            return try RoleTable.maker(roles, ownUser: ownUser, socketGroups: groups) { .system() }
        } catch {
            throw wrong(error.key, error.reason)
        }
    }

    /// Whom there is not of those who have a role, in sentences with their places.
    func problems(of table: RoleTable) -> [String] {
        table.problems.map { "\(wrong($0.key, $0.reason + "; nobody has the role by that name"))" }
    }
}
