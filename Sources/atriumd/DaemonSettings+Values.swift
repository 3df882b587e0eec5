import Control
import Store

// Checks the values of settings whose format is right.
extension DaemonSettings {
    /// The least memory with which a worker can run.
    private static let leastWorkerMemory = 16 << 20
    /// The longest path of a Unix socket's address.
    private static let longestSocketPath = 107

    /// Throws for values with which the daemon could not work, with the place of the setting.
    func refuseOddValues(in file: String) throws(DaemonError) {
        let paths = [("socket", [socket]), ("stateDirectory", [stateDirectory])]
        for (key, paths) in paths + [("pluginPath", pluginPath)] {
            for path in paths {
                guard !path.isEmpty else { throw wrong(key, "expected a path, found nothing") }
                // A relative path in a file has no base: a service's working directory is /.
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
            throw wrong(
                "workerMemoryMax",
                "expected 16M or more, which a worker needs to live, found "
                    + NumberSetting.size(workerMemoryMax))
        }
    }

    /// The limits for past notifications.
    var retention: Retention {
        let day = 86_400_000
        let days = notificationDaysKept
        return Retention(
            count: notificationsKept, bytes: notificationBytesKept,
            age: days == 0 || days > 1_000_000 ? .max : Int64(days * day))
    }

    /// An error for an invalid setting, with its place.
    private func wrong(_ key: String, _ reason: String) -> DaemonError {
        DaemonError((places[key].map { "\($0): " } ?? "") + "\(key): \(reason)")
    }

    /// Creates the table of roles.
    ///
    /// - Parameter groups: returns the groups that own the sockets; may block.
    /// - Returns: a function that creates the table, with problems for ``problems(of:)``. It blocks while the
    ///   system's directory is queried.
    /// - Throws: `DaemonError` with its place, for an invalid entry.
    func roleTable(
        groups: @escaping @Sendable () -> [UInt32]
    ) throws(DaemonError) -> @Sendable () -> RoleTable {
        do throws(RoleProblem) {
            return try RoleTable.maker(roles, ownUser: ownUser, socketGroups: groups) { .system() }
        } catch {
            throw wrong(error.key, error.reason)
        }
    }

    /// The users and groups with roles that don't exist, in sentences with their places.
    func problems(of table: RoleTable) -> [String] {
        table.problems.map { "\(wrong($0.key, $0.reason + "; nobody has the role by that name"))" }
    }
}
