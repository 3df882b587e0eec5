import Foundation

/// Default directories: those from systemd, else root's, else the user's own.
struct DefaultDirectories: Sendable {
    /// The directory of the socket.
    let runtime: String
    /// The directory of the store.
    let state: String
    /// The directory of `atrium.yaml` and `containers.d/`.
    let configuration: String

    /// Finds the directories for a user, 0 for root, by variables including those of systemd and XDG.
    init(environment: [String: String], uid: UInt32) {
        let home = environment["HOME"] ?? "/"
        let isRoot = uid == 0
        // systemd passes a list of directories; the daemon uses the first.
        func given(_ name: String) -> String? {
            environment[name]?.split(separator: ":").first.map(String.init)
        }
        // The XDG specification requires relative paths to be ignored.
        func own(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 + "/atrium" : nil }
        }
        // Root does not use XDG_RUNTIME_DIR, because other users can't enter it and root's daemon serves all users.
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
