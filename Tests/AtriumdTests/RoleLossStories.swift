import Foundation
import Glibc
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What becomes of those whose role is taken away while they look on.
    ///
    /// Debian's own accounts stand for people: games moderates, mail administers, www-data is a front end.
    @Suite(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
    struct LostRoles {
        private static let group: UInt32 = 20_000
        private static let film = "the-godfather-1972"
        private static let someRoles =
            "moderators: [games]\nadmins: [mail]\nfrontends: [www-data=web]\n"
        /// Where the group `atrium` is there, as after `make run`, the socket would be its and not of ours.
        private static let withoutOurGroup = """
            f=$(mktemp) && { grep -v ^atrium: /etc/group >"$f"; chmod 644 "$f"; } \
            && mount --bind "$f" /etc/group && rm "$f" && exec "$@"
            """
        private static let options = DaemonUnderTest.Options(
            prefix: [
                "unshare", "--mount", "sh", "-c", withoutOurGroup, "sh", "setpriv",
                "--regid=\(group)", "--clear-groups",
            ],
            configuration: ["atrium.yaml": someRoles])

        private static func peer(_ daemon: DaemonUnderTest, _ uid: UInt32) async throws -> Peer {
            try await Peer(daemon.socket, as: Credentials(uid: uid, gid: group))
        }

        private static func reload(_ daemon: DaemonUnderTest, _ settings: String) async throws {
            try daemon.home.write("etc/atrium.yaml", settings)
            let reply = try await daemon.peer().call("org.atrium.Daemon.Reload")
            #expect(reply["error"] == nil, "\(reply)")
        }

        private static func vote(_ daemon: DaemonUnderTest, as uid: UInt32) async throws {
            let reply = try await peer(daemon, uid).call(
                "org.atrium.Votes.Cast",
                ["container": "films", "item": .string(film), "value": 4])
            #expect(reply["error"] == nil, "\(reply)")
        }

        @Test
        func `who received who voted gets the reason that this ends, and nothing after the reload`()
            async throws
        {
            try await withFilms(Self.options) { daemon in
                let moderator = try await Self.peer(daemon, 5)
                let topics: JSONValue = ["topics": ["films.votes.>"]]
                try await moderator.send(
                    Peer.frame("org.atrium.Notifications.Subscribe", topics, more: true)
                        + Peer.frame("org.atrium.Votes.Ballots", ["container": "films"]))
                #expect(try await moderator.receive()?["parameters"]?["live"]?.bool == true)
                try await Self.vote(daemon, as: 20_001)
                let seen = try await moderator.receive()?["parameters"]?["notifications"]?[0]
                #expect(seen?["actor"]?.string == "unix:20001", "\(seen as Any)")

                try await Self.reload(daemon, "")
                try await Self.vote(daemon, as: 20_002)
                let end = try #require(try await moderator.receive())
                #expect(end["error"]?.string == "org.atrium.Daemon.RoleRequired", "\(end)")
                #expect(
                    end["parameters"] == [
                        "method": "org.atrium.Notifications.Subscribe", "role": "moderator",
                        "yours": "member",
                    ])
                // What waited behind it is judged as it is now.
                let queued = try #require(try await moderator.receive())
                #expect(queued["error"]?.string == "org.atrium.Daemon.RoleRequired", "\(queued)")
                try await Self.seesNoVoter(daemon, moderator)
            }
        }

        /// The same connection may go on as a member.
        private static func seesNoVoter(_ daemon: DaemonUnderTest, _ peer: Peer) async throws {
            let topics: JSONValue = ["topics": ["films.votes.>"]]
            try await peer.send(
                Peer.frame("org.atrium.Notifications.Subscribe", topics, more: true))
            _ = try await peer.receive()
            try await vote(daemon, as: 20_003)
            let seen = try await peer.receive()?["parameters"]?["notifications"]?[0]
            #expect(seen?["topic"]?.string == "films.votes.cast")
            #expect(seen?["actor"]?.string == nil, "\(seen as Any)")
        }

        @Test func `a process whose group is a supplementary one is a member`() async throws {
            try await withFilms(Self.options) { daemon in
                let peer = try await Peer(
                    daemon.socket,
                    as: Credentials(uid: 20_004, gid: 20_009, groups: [7, Self.group]))
                let reply = try await peer.call(
                    "org.atrium.Votes.Cast",
                    ["container": "films", "item": .string(Self.film), "value": 4])
                #expect(reply["error"] == nil, "\(reply)")
            }
        }

        @Test func `an export ends in its midst for one who is no admin any more`() async throws {
            try await withFilms(Self.options) { daemon in
                let text = JSONValue.string(String(repeating: "x", count: 4_000))
                for batch in 0..<10 {
                    let items = (0..<200).map { number -> JSONValue in
                        [
                            "id": .string("big-\(batch)-\(number)"),
                            "fields": ["title": text],
                        ]
                    }
                    let put = try await daemon.peer().call(
                        "org.atrium.Contents.Put",
                        ["container": "films", "items": .array(items)])
                    #expect(put["error"] == nil, "\(put)")
                }
                let admin = try await Self.peer(daemon, 8)
                try await admin.send(
                    Peer.frame(
                        "org.atrium.Containers.Export", ["container": "films"], more: true))
                var replies = [try #require(try await admin.receive())]
                try await Self.reload(daemon, "")
                while replies.last?["continues"]?.bool == true {
                    replies.append(try #require(try await admin.receive()))
                }
                let last = try #require(replies.last)
                #expect(last["error"]?.string == "org.atrium.Daemon.RoleRequired", "\(last)")
                #expect(last["parameters"]?["role"]?.string == "admin")
            }
        }

        @Test func `screens of people for whom a front end acts no more end, also those that wait`()
            async throws
        {
            try await withFilms(Self.options) { daemon in
                func open(_ actor: String) async throws -> (Peer, String) {
                    let peer = try await Self.peer(daemon, 33)
                    let request: JSONValue = [
                        "container": "films", "limit": 1, "actor": .string(actor),
                    ]
                    try await peer.send(
                        Peer.frame("org.atrium.Screens.Open", request, more: true))
                    let first = try #require(try await peer.receive())
                    return (peer, try #require(first["parameters"]?["screen"]?.string))
                }
                let (reader, open1) = try await open("web:ann")
                let (own, open2) = try await open("unix:33")
                let waiting = try await open("web:bob").1
                try await Self.reload(daemon, "admins: [mail]\n")
                let end = try #require(try await reader.receive())
                #expect(end["error"]?.string == "org.atrium.Daemon.ActorForbidden", "\(end)")
                let hand = try await Self.peer(daemon, 33)
                for (screen, error) in [
                    (open1, "org.atrium.Screens.ScreenNotFound"),
                    (waiting, "org.atrium.Daemon.ActorForbidden"),
                ] {
                    let act = try await hand.call(
                        "org.atrium.Screens.Activate",
                        ["screen": .string(screen), "item": .string(Self.film)])
                    #expect(act["error"]?.string == error, "\(act)")
                }
                // Its own goes on.
                let act = try await hand.call(
                    "org.atrium.Screens.Search", ["screen": .string(open2), "text": "alien"])
                #expect(act["error"] == nil, "\(act)")
                #expect(try await own.receive()?["parameters"]?["screen"]?.string == open2)
            }
        }

        @Test func `a screen with what another voted ends with the role of its moderator`()
            async throws
        {
            try await withFilms(Self.options) { daemon in
                let moderator = try await Self.peer(daemon, 5)
                let spying: JSONValue = [
                    "container": "films", "limit": 1, "actor": "unix:20001",
                ]
                let open = Peer.frame("org.atrium.Screens.Open", spying, more: true)
                try await moderator.send(open)
                let first = try #require(try await moderator.receive())
                #expect(first["parameters"]?["screen"] != nil, "\(first)")
                try await Self.reload(daemon, "")
                let end = try #require(try await moderator.receive())
                #expect(end["error"]?.string == "org.atrium.Daemon.ActorForbidden", "\(end)")
                // Neither anew nor by the screen that it was.
                var resuming = spying
                resuming["resume"] = [
                    "screen": first["parameters"]?["screen"] ?? "", "revision": 1,
                ]
                for call in [
                    open, Peer.frame("org.atrium.Screens.Open", resuming, more: true),
                    Peer.frame(
                        "org.atrium.Votes.Tally",
                        ["container": "films", "item": .string(Self.film), "actor": "unix:20001"]),
                ] {
                    try await moderator.send(call)
                    let reply = try #require(try await moderator.receive())
                    #expect(
                        reply["error"]?.string == "org.atrium.Daemon.ActorForbidden", "\(reply)")
                }
            }
        }

        @Test func `a reload keeps the screens of a front end by its process's group`()
            async throws
        {
            let settings = "frontends: ['@games=web']\n"
            var options = Self.options
            options.configuration = ["atrium.yaml": settings]
            try await withFilms(options) { daemon in
                // No directory knows of this user.
                let frontend = Credentials(uid: 20_010, gid: Self.group, groups: [60])
                func open(_ more: JSONValue.Member...) async throws -> JSONValue {
                    let peer = try await Peer(daemon.socket, as: frontend)
                    let request: JSONValue = [
                        "container": "films", "limit": 1, "actor": "web:ann",
                    ]
                    let all = JSONValue.object((request.object?.map { $0 } ?? []) + more)
                    try await peer.send(Peer.frame("org.atrium.Screens.Open", all, more: true))
                    let reply = try #require(try await peer.receive()?["parameters"])
                    return reply
                }
                let first = try await open()
                try await Self.reload(daemon, settings)
                let screen = try #require(first["screen"])
                let act = try await Peer(daemon.socket, as: frontend).call(
                    "org.atrium.Screens.Search", ["screen": screen, "text": "alien"])
                #expect(act["error"] == nil, "\(act)")
                let again = try await open(
                    .init("resume", ["screen": screen, "revision": first["revision"] ?? 0]))
                #expect(again["screen"] == screen, "\(again)")
                #expect(again["base"] == first["revision"])
            }
        }

        @Test func `a directory of users that hangs holds no reload, and counts later`()
            async throws
        {
            // A copy of /etc that the daemon has for its own, whose file of users can become a pipe.
            let etc = try TemporaryDirectory()
            _ = try await run(["cp", "-a", "/etc/.", etc.path])
            try etc.write("subuid", "")
            var options = Self.options
            options.prefix =
                [
                    "unshare", "--mount", "sh", "-c",
                    "mount --bind \(etc.path) /etc && exec \"$@\"", "sh",
                ] + options.prefix
            try await withFilms(options) { daemon in
                let moderator = try await Self.peer(daemon, 5)
                try await moderator.send(
                    Peer.frame(
                        "org.atrium.Notifications.Subscribe", ["topics": ["films.>"]], more: true))
                _ = try await moderator.receive()
                try daemon.home.write("etc/atrium.yaml", "observers: [daemon]\nadmins: [mail]\n")
                let hanging = try await daemon.type(
                    "cd \(etc.path) && mv passwd real && mkfifo passwd")
                #expect(hanging.status == 0, "\(hanging)")
                let peer = try daemon.peer()
                let reload = try await peer.call("org.atrium.Daemon.Reload")
                let sentence = "the system's directory of users does not answer"
                #expect(reload["error"]?.string == "org.atrium.Daemon.ReloadFailed", "\(reload)")
                #expect(
                    reload["parameters"]?["reason"]?.string?.contains(sentence) == true, "\(reload)"
                )
                let status = try await peer.call("org.atrium.Daemon.Status")
                let problem = status["parameters"]?["problems"]?[0]?.string
                #expect(problem?.contains(sentence) == true, "\(status)")
                // Everyone goes on as before.
                try await Self.vote(daemon, as: 5)
                let seen = try #require(try await moderator.receive())
                let voter = seen["parameters"]?["notifications"]?[0]?["actor"]?.string
                #expect(voter == "unix:5", "\(seen)")

                let answered = try await daemon.type(
                    "cd \(etc.path) && mv passwd pipe && mv real passwd && : >pipe")
                #expect(answered.status == 0, "\(answered)")
                let end = try #require(try await moderator.receive())
                #expect(end["error"]?.string == "org.atrium.Daemon.RoleRequired", "\(end)")
                let again = try await peer.call("org.atrium.Daemon.Reload")
                #expect(again["error"] == nil, "\(again)")
            }
        }

        /// Either who has which role can't be asked, or which group the socket is to have.
        ///
        /// The store is a new one, one without a log, or one whose log a daemon left that was killed.
        @Test(arguments: [
            ("passwd", "rm -r state/*"), ("group", "test ! -s state/atrium.sqlite-wal"),
            ("passwd", "test -s state/atrium.sqlite-wal"),
        ])
        func `a directory of users that hangs keeps no daemon from starting, and counts later`(
            file: String, store: String
        ) async throws {
            let etc = try TemporaryDirectory()
            _ = try await run(["cp", "-a", "/etc/.", etc.path])
            try etc.write("subuid", "")
            let groups = try String(contentsOfFile: "/etc/group", encoding: .utf8)
            try etc.write(
                "group",
                groups.split(separator: "\n").filter { !$0.hasPrefix("atrium:") }
                    .map { $0 + "\n" }.joined())
            // Whether its group is its owner's alone only the directory says.
            let plugins = try TemporaryDirectory()
            chmod(plugins.path, 0o770)
            let options = DaemonUnderTest.Options(
                arguments: ["--plugin-path", plugins.path],
                prefix: [
                    "unshare", "--mount", "sh", "-c",
                    "mount --bind \(etc.path) /etc && exec \"$@\"", "sh",
                    // By numbers alone: setpriv would ask for names.
                    "chroot", "--userspec=+0:+\(Self.group)", "--groups=", "--skip-chdir", "/",
                ],
                // The first that it is asked about then is not found.
                configuration: ["atrium.yaml": "observers: [daemon]\nmoderators: [games]\n"])
            try await withFilms(options) { daemon in
                if store.hasPrefix("test -s") {
                    try await daemon.kill()
                } else {
                    try await daemon.stop()
                }
                let hanging = try await daemon.type(
                    "\(store) && cd \(etc.path) && mv \(file) real && mkfifo \(file)")
                #expect(hanging.status == 0, "\(hanging)")
                try await daemon.start()
                let applied = try await daemon.type(
                    "atriumctl apply -f $EXAMPLES/films.yaml && atriumctl import films $EXAMPLES/films.ndjson"
                )
                #expect(applied.status == 0, "\(applied)")
                try await Self.servesWithoutDirectory(daemon)
                #expect(daemon.log.contains("'chmod g-w \(plugins.path)', or start again"))

                let answered = try await daemon.type(
                    "cd \(etc.path) && mv \(file) pipe && mv real \(file) && : >pipe")
                #expect(answered.status == 0, "\(answered)")
                let root = try daemon.peer()
                try await until {
                    let status = try await root.call("org.atrium.Daemon.Status")
                    let problems = status["parameters"]?["problems"]?.array ?? []
                    return !problems.contains { $0.string?.contains("does not answer") == true }
                }
                let ballots = try await Self.peer(daemon, 5).call(
                    "org.atrium.Votes.Ballots", ["container": "films"])
                #expect(ballots["error"] == nil, "\(ballots)")
            }
        }

        /// Root is an admin, the socket's group are members, and nobody has a role by the settings.
        private static func servesWithoutDirectory(_ daemon: DaemonUnderTest) async throws {
            let status = try await daemon.peer().call("org.atrium.Daemon.Status")
            let problems = status["parameters"]?["problems"]?.array?.compactMap(\.string) ?? []
            let sentence = "the system's directory of users does not answer: until it does, root"
            #expect(problems.contains { $0.contains(sentence) }, "\(status)")
            try await vote(daemon, as: 20_001)
            let ballots = try await peer(daemon, 5).call(
                "org.atrium.Votes.Ballots", ["container": "films"])
            #expect(ballots["error"]?.string == "org.atrium.Daemon.RoleRequired", "\(ballots)")
            #expect(ballots["parameters"]?["yours"]?.string == "member")
        }
    }
}
