import Glibc

/// Where the daemon's socket is.
enum SocketPath {
    /// The path in use: what was told, else the environment's, else the first that is there.
    ///
    /// - Parameters:
    ///   - told: The value of `--socket`.
    ///   - environment: Reads a variable.
    ///   - exists: Tells whether there is something at a path.
    ///   - uid: The user.
    /// - Returns: The path; where nothing is there, the place where a daemon of this user puts it.
    static func find(
        told: String? = nil,
        environment: (String) -> String? = Terminal.environment,
        exists: (String) -> Bool = { access($0, F_OK) == 0 || errno == EACCES },
        uid: uid_t = getuid()
    ) -> String {
        if let told { return told }
        if let variable = environment("ATRIUM_SOCKET"), !variable.isEmpty { return variable }
        let temporary = "/tmp/atrium-\(uid)/atrium.sock"
        let runtime = environment("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 }
            .map { "\($0)/atrium/atrium.sock" }
        let places = [runtime, "/run/atrium/atrium.sock", temporary].compactMap { $0 }
        return places.first(where: exists) ?? runtime ?? "/run/atrium/atrium.sock"
    }
}
