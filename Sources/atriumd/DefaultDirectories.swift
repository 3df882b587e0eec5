import Foundation

/// Where things live unless told: as systemd says, else root's places, else the user's own.
struct DefaultDirectories: Sendable {
    /// For the socket.
    let runtime: String
    /// For the store.
    let state: String
    /// For `atrium.yaml` and `containers.d/`.
    let configuration: String

    /// The directories for a user.
    ///
    /// - Parameters:
    ///   - environment: systemd's and XDG's variables are looked up here.
    ///   - uid: 0 for root.
    init(environment: [String: String], uid: UInt32) {
        let home = environment["HOME"] ?? "/"
        let isRoot = uid == 0
        // systemd gives a list; ours is one directory.
        func given(_ name: String) -> String? {
            environment[name]?.split(separator: ":").first.map(String.init)
        }
        // The specification of the XDG base directories has relative paths ignored.
        func own(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 + "/atrium" : nil }
        }
        // Root's runtime directory is closed to others: root's daemon serves the machine.
        runtime =
            given("RUNTIME_DIRECTORY")
            ?? (isRoot ? "/run/atrium" : own("XDG_RUNTIME_DIR") ?? "/tmp/atrium-\(uid)")
        state =
            given("STATE_DIRECTORY")
            ?? (isRoot
                ? "/var/lib/atrium" : own("XDG_STATE_HOME") ?? home + "/.local/state/atrium")
        configuration =
            given("CONFIGURATION_DIRECTORY")
            ?? (isRoot ? "/etc/atrium" : own("XDG_CONFIG_HOME") ?? home + "/.config/atrium")
    }
}
