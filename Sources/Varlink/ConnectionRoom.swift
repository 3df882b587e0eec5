internal import Glibc

/// The number of connections that the limits and the process's descriptors allow.
///
/// Without a descriptor a connection can't even be refused: its peer would wait without knowing why, and the kernel
/// would report the listening socket as readable all the time.
struct ConnectionRoom {
    /// The maximum number of connections.
    let connections: Int

    /// The maximum number of connections of one user.
    let connectionsPerUser: Int

    /// The setting that limits ``connections``.
    let reason: String

    /// The setting that limits ``connectionsPerUser``.
    let reasonPerUser: String

    /// Creates the room that the server's limits, and the descriptors that the process may have for all purposes,
    /// allow.
    init(_ limits: VarlinkLimits, descriptors: Int) {
        let room = max(1, descriptors - max(Self.reserve, descriptors / 8))
        guard room < limits.connections else {
            connections = limits.connections
            connectionsPerUser = limits.connectionsPerUser
            reason = "limits.connections"
            reasonPerUser = "limits.connectionsPerUser"
            return
        }
        connections = room
        reason = "RLIMIT_NOFILE is \(descriptors)"
        // As by default: no user can keep all others out.
        let half = max(1, room / 2)
        connectionsPerUser = min(half, limits.connectionsPerUser)
        reasonPerUser = half < limits.connectionsPerUser ? reason : "limits.connectionsPerUser"
    }

    /// Descriptors that are left to the rest of the process, at least.
    private static var reserve: Int { 64 }
}

extension VarlinkLimits {
    /// The number of descriptors that the process may have; queried each time, since the process may raise its limit.
    var descriptors: Int {
        if let assumedDescriptors { return assumedDescriptors }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return .max
        }
        return Int(clamping: limit.rlim_cur)
    }
}
