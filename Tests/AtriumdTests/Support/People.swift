import Foundation
import JSONCodec
import TestSupport

/// Users with a role each, in a daemon's own view of `/etc`, and what they say on its socket.
///
/// Only root can have others call.
struct People {
    /// Who there is, by the role that the settings give them; `nobody` has none.
    static let uids = [
        "nobody": 65_534, "observer": 30_001, "member": 30_002, "frontend": 30_003,
        "moderator": 30_004, "admin": 30_005,
    ]

    /// The settings that give them their roles.
    static let settings = """
        observers: [atrium-observer]
        members: [atrium-member]
        frontends: [atrium-frontend=web]
        moderators: [atrium-moderator]
        admins: [atrium-admin]

        """

    private static let caller = """
        import json, os, socket, sys
        for line in sys.stdin:
            peer = socket.socket(socket.AF_UNIX)
            peer.settimeout(50)
            peer.connect(os.environ["ATRIUM_SOCKET"])
            peer.sendall(line.rstrip("\\n").encode() + b"\\0")
            reply = b""
            while b"\\0" not in reply:
                part = peer.recv(1 << 16)
                if not part: break
                reply += part
            print(reply.split(b"\\0")[0].decode() or "null")
            peer.close()
        """

    private let daemon: DaemonUnderTest

    /// Runs a story with the film club, in a daemon that everyone may connect to.
    static func withFilms(
        _ options: DaemonUnderTest.Options = .init(),
        _ story: (DaemonUnderTest, People) async throws -> Void
    ) async throws {
        let etc = try TemporaryDirectory()
        for (name, line) in [
            ("passwd", { "atrium-\($0):x:\($1):\($1)::/:/bin/false" }),
            ("group", { "atrium-\($0):x:\($1):" }),
        ] as [(String, (String, Int) -> String)] {
            let hosts = try String(contentsOfFile: "/etc/\(name)", encoding: .utf8)
            let ours = uids.filter { $0.key != "nobody" }.map(line)
            try etc.write(name, hosts + ours.joined(separator: "\n") + "\n")
        }
        var options = options
        options.prefix = [
            "unshare", "--mount", "sh", "-c",
            "mount --bind \(etc.path)/passwd /etc/passwd && mount --bind \(etc.path)/group /etc/group"
                + " && exec \"$@\"", "sh",
        ]
        options.configuration["atrium.yaml", default: ""] += settings
        try await AtriumdTests.withFilms(options) { daemon in
            chmod(daemon.socket, 0o666)
            try daemon.home.write("caller.py", caller)
            try await story(daemon, People(daemon: daemon))
        }
    }

    /// Makes calls as who has a role, each on a connection of its own.
    ///
    /// - Returns: the first reply to each.
    func call(as role: String, _ calls: [JSONValue]) async throws -> [JSONValue] {
        let uid = Self.uids[role] ?? 65_534
        let called = try await run(
            [
                "setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups",
                "/usr/bin/python3", daemon.home.path + "/caller.py",
            ], environment: daemon.environment,
            input: calls.map { String(decoding: JSON.encode($0), as: UTF8.self) + "\n" }.joined())
        guard called.status == 0, called.lines.count == calls.count else {
            throw Installed.Unusable(description: "\(called)")
        }
        return try called.jsonLines
    }
}
