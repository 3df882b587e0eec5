import Foundation
import JSONCodec
import TestSupport
import Testing
import Workers

extension Stories {
    /// Components that live in processes of their own.
    @Suite struct Workers {
        @Test func `a worker killed between two votes costs neither of them`() async throws {
            try await withDaemon { daemon in
                let filled = try await daemon.type(
                    "sed 's/plugin: org.atrium.stars,/& isolation: process,/' $EXAMPLES/films.yaml "
                        + ">f.yaml && atriumctl apply -f f.yaml && "
                        + "atriumctl import films $EXAMPLES/films.ndjson")
                #expect(filled.status == 0, "\(filled)")
                let workers = try await Self.workers(of: daemon)
                let worker = try #require(workers.first)
                #expect(workers.count == 1)

                let restarts =
                    #"atriumctl metrics | grep '^atrium_worker_restarts_total{component="stars","#
                    + #"container="films"}'"#
                let before = try await daemon.type(restarts)
                #expect(before.output.hasSuffix(" 0\n"), "told before there is one: \(before)")
                try await Self.vote(daemon, "films/alien-1979", 5)
                try await Self.vote(daemon, "films/heat-1995", 2)
                #expect(Glibc.kill(worker, SIGKILL) == 0)
                try await Self.vote(daemon, "films/heat-1995", 4)

                let best = try await daemon.type(
                    "atriumctl list films --sort -votes.score --limit 2 --json")
                #expect(try best.json.ids == ["alien-1979", "heat-1995"])
                for item in try best.json["items"]?.array ?? [] {
                    #expect(item["votes"]?["count"]?.int == 1)
                }
                #expect(try best.json["items"]?[1]?["votes"]?["score"]?.double == 19.0 / 6)
                #expect(try await Self.workers(of: daemon) != [worker])
                let after = try await daemon.type(restarts)
                #expect(after.output.hasSuffix(" 1\n"), "\(after)")
                #expect(daemon.log.contains("signal 9") || daemon.log.contains("SIGKILL"))
            }
        }

        @Test func `a worker goes on with other settings, and the next one has them`() async throws
        {
            try await withDaemon { daemon in
                func apply(_ settings: String) async throws -> Finished {
                    try await daemon.type(
                        "sed 's/plugin: org.atrium.threads,/& isolation: process,/; "
                            + "s/settings: { subjects: .items, container. } }$/settings: \(settings) }/' "
                            + "$EXAMPLES/films.yaml >f.yaml && atriumctl apply -f f.yaml")
                }
                #expect(try await apply("{ maxLength: 80 }").status == 0)
                let worker = try #require(try await Self.workers(of: daemon).first)
                let posts = "atriumctl comment films 'Twenty-one characters'"
                #expect(try await daemon.type(posts).status == 0)

                let changed = try await apply("{ maxLength: 20 }")
                #expect(changed.status == 0, "\(changed)")
                #expect(try await Self.workers(of: daemon) == [worker])
                let refused = try await daemon.type(posts)
                #expect(refused.status != 0)
                #expect(refused.errors.contains("at most 20 characters"), "\(refused)")
                #expect(Glibc.kill(worker, SIGKILL) == 0)
                let after = try await daemon.type(posts)
                #expect(after.errors.contains("at most 20 characters"), "\(after)")
                #expect(try await Self.workers(of: daemon) != [worker])
            }
        }

        @Test func `no worker outlives a daemon that was killed`() async throws {
            try await withDaemon { daemon in
                let made = try await daemon.type(
                    "sed 's/plugin: org.atrium.stars,/& isolation: process,/' $EXAMPLES/films.yaml "
                        + ">f.yaml && atriumctl apply -f f.yaml")
                #expect(made.status == 0, "\(made)")
                let worker = try #require(try await Self.workers(of: daemon).first)
                try await daemon.kill()
                // Ends as soon as the worker has.
                let waited = try await run(
                    [
                        "timeout", "20", "tail", "--sleep-interval=0.02", "--pid=\(worker)", "-f",
                        "/dev/null",
                    ])
                #expect(waited.status == 0, "\(waited)")
            }
        }

        @Test func `a worker holds what it was given, and no client's connection`() async throws {
            try await withDaemon { daemon in
                let isolated =
                    "sed 's/plugin: org.atrium.stars,/& isolation: process,/; s/^container: films/"
                    + "container: NAME/' $EXAMPLES/films.yaml >f.yaml && atriumctl apply -f f.yaml"
                func make(_ name: String) async throws {
                    let text = isolated.replacingOccurrences(of: "NAME", with: name)
                    let made = try await daemon.type(text)
                    #expect(made.status == 0, "\(made)")
                }
                try await make("films")
                let peers = try (0..<40).map { _ in try daemon.peer() }
                for peer in peers { _ = try await peer.call("org.atrium.Daemon.Status") }
                try await make("others")

                let workers = try await Self.workers(of: daemon)
                #expect(workers.count == 2)
                for worker in workers {
                    let held = try Self.descriptors(of: worker)
                    #expect(held[0] == "/dev/null")
                    #expect(held[1] == held[2] && held[1]?.hasPrefix("pipe:") == true)
                    #expect(held.values.count { $0.hasPrefix("socket:") } == 3, "\(held)")
                    #expect(held[6]?.hasSuffix("/libStars.so") == true, "\(held)")
                    #expect(
                        held.filter { $0.key > 6 }.values.allSatisfy {
                            $0.hasPrefix("anon_inode:[event") || $0 == "anon_inode:[timerfd]"
                        }, "\(held)")
                }
                // What the daemon closes has ended, while the workers live.
                for peer in peers {
                    try await peer.send("this is not JSON")
                    #expect(try await peer.receive() == nil)
                }
            }
        }

        @Test(.enabled(if: WorkerWalls.missing.isEmpty, "this kernel has not all that it takes"))
        func `a plugin reaches neither the daemon nor its store`() async throws {
            let folder = try Self.plugin("breaker", "contents", paths: ["folder"])
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withDaemon(options) { daemon in
                try daemon.home.write("songs/one", "la")
                try daemon.home.write(
                    "den.yaml",
                    """
                    atrium: 1
                    container: den
                    components:
                      - name: list
                        plugin: org.atrium.breaker
                        settings: { folder: \(daemon.home.path)/songs }
                    """)
                let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/den.yaml")
                #expect(made.status == 0, "\(made)")
                let store = try #require(
                    try FileManager.default.contentsOfDirectory(atPath: daemon.home.path + "/state")
                        .first)
                let pid = try #require(daemon.pid)
                let peer = try daemon.peer()
                for (what, outcome) in [
                    ("connect=\(daemon.socket)", "Permission denied"),
                    ("read=\(daemon.home.path)/state/\(store)", "Permission denied"),
                    ("kill=\(pid)", "Operation not permitted"),
                    ("trace=\(pid)", "Operation not permitted"),
                    ("network", "Permission denied"),
                    ("read=\(daemon.home.path)/songs/one", "succeeded"),
                ] {
                    let reply = try await peer.call(
                        "org.atrium.Contents.Put",
                        [
                            "container": "den",
                            "items": [["id": .string("try-\(what)"), "fields": [:]]],
                        ])
                    let reason = reply["parameters"]?["reason"]?.string
                    #expect(reason == "try-\(what): \(outcome)", "\(reply)")
                }
                let status = try await peer.call("org.atrium.Daemon.Status")
                #expect(status["parameters"]?["problems"]?.array?.isEmpty == true, "\(status)")
            }
        }

        @Test func `no setting gives a worker the store or a secret to read, by a link neither`()
            async throws
        {
            let folder = try Self.plugin("breaker", "contents", paths: ["folder"])
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withDaemon(options) { daemon in
                let home = daemon.home.path
                try daemon.home.write("songs/one", "la")
                try daemon.home.write("secrets/key", "s")
                for (name, target) in [("to-state", "state"), ("to-songs", "songs")] {
                    try FileManager.default.createSymbolicLink(
                        atPath: "\(home)/\(name)", withDestinationPath: "\(home)/\(target)")
                }
                func apply(_ name: String) async throws -> Finished {
                    try daemon.home.write(
                        "den.yaml",
                        """
                        atrium: 1
                        container: den
                        components:
                          - name: list
                            plugin: org.atrium.breaker
                            settings: { folder: "\(home)\(name)", key: { secretFile: "\(home)/secrets/key" } }
                        """)
                    return try await daemon.type("atriumctl apply -f \(home)/den.yaml")
                }
                for (name, what) in [
                    ("/state", "gives away the daemon's own files"),
                    ("/to-state", "gives away the daemon's own files"),
                    ("", "gives away the daemon's own files"),
                    ("/secrets", "where secrets are"), ("/secrets/key", "where secrets are"),
                ] {
                    let refused = try await apply(name)
                    #expect(refused.status != 0, "\(name): \(refused)")
                    #expect(refused.errors.contains(what), "\(name): \(refused)")
                    #expect(refused.errors.contains("folder"))
                }
                let made = try await apply("/to-songs")
                #expect(made.status == 0, "\(made)")
            }
        }

        @Test func `what is the matter with a plugin's components is shown, and how often`()
            async throws
        {
            let folder = try Self.plugin("breaker", "contents")
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withDaemon(options) { daemon in
                try daemon.home.write(
                    "den.yaml",
                    """
                    atrium: 1
                    container: den
                    fields: { title: { type: text } }
                    components: [{ name: list, plugin: org.atrium.breaker }]
                    """)
                let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/den.yaml")
                #expect(made.status == 0, "\(made)")
                let before = try await Self.breaker(daemon)
                #expect(before["restarts"] == nil && before["troubles"] == nil, "\(before)")
                #expect(try await daemon.type("atriumctl put den/trap title=1").status != 0)
                #expect(try await daemon.type("atriumctl put den/one title=1").status == 0)
                let after = try await Self.breaker(daemon)
                // Once for the call, and once for the same call again.
                #expect(after["restarts"]?.int == 2, "\(after)")
                let trouble = try #require(after["troubles"]?[0]?.string)
                #expect(trouble.hasPrefix("den/list refuses the call putItems of 'trap'"))
                #expect(after["troubles"]?.array?.count == 1)
                let listed = try await daemon.type("atriumctl plugins")
                #expect(listed.output.contains("\nden/list refuses the call putItems of 'trap'"))
                let shown = try await daemon.type("atriumctl plugin describe org.atrium.breaker")
                #expect(shown.output.contains("Restarted"), "\(shown)")
                #expect(shown.output.contains("2 times"), "\(shown)")
                #expect(shown.output.contains("den/list refuses the call"), "\(shown)")
            }
        }

        /// What `Plugins.Describe` and `Plugins.List` tell of the breaker, which is the same.
        private static func breaker(_ daemon: DaemonUnderTest) async throws -> JSONValue {
            let peer = try daemon.peer()
            let described = try await peer.call(
                "org.atrium.Plugins.Describe", ["plugin": "org.atrium.breaker"])
            let plugin = try #require(described["parameters"]?["plugin"], "\(described)")
            let listed = try await peer.call("org.atrium.Plugins.List")
            #expect(listed["parameters"]?["plugins"]?.array?.contains(plugin) == true)
            return plugin
        }

        /// The words for the log are not those for people who vote.
        @Test
        func `a vote that is answered with nonsense is refused, and the log has the plugin's name`()
            async throws
        {
            let folder = try Self.plugin("cheat", "votes")
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withDaemon(options) { daemon in
                try daemon.home.write(
                    "den.yaml",
                    """
                    atrium: 1
                    container: den
                    components:
                      - { name: votes, plugin: org.atrium.cheat, settings: { lie: key } }
                    """)
                let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/den.yaml")
                #expect(made.status == 0, "\(made)")
                // Its worker is started again for each.
                for _ in 0..<2 {
                    let vote = try await daemon.type("atriumctl vote den 1")
                    #expect(vote.status != 0)
                    #expect(
                        vote.errors.contains(
                            "the component 'votes' does not answer now: It answered wrongly, so nothing was "
                                + "changed, and it is being started again: try again."), "\(vote)")
                    #expect(!vote.errors.contains("org.atrium.cheat"), "\(vote)")
                }
                #expect(daemon.log.contains("The worker"), "\(daemon.log)")
                #expect(daemon.log.contains("the record 'nonsense'"), "\(daemon.log)")
                let described = try await daemon.type("atriumctl describe den")
                #expect(described.output.contains("the record 'nonsense'"), "\(described)")
                let exported = try await daemon.type("atriumctl export den --all")
                #expect(exported.status == 0 && !exported.output.contains("nonsense"))
            }
        }

        /// Observers and members read that it failed, moderators and administrators also how.
        @Test(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
        func `how a component failed is for those who look after it`() async throws {
            let folder = try Self.plugin("cheat", "votes")
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await People.withFilms(options) { daemon, people in
                try daemon.home.write(
                    "den.yaml",
                    """
                    atrium: 1
                    container: den
                    components:
                      - { name: votes, plugin: org.atrium.cheat, settings: { lie: key } }
                    """)
                let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/den.yaml")
                #expect(made.status == 0, "\(made)")
                _ = try await daemon.type("atriumctl vote den 1; atriumctl vote den 1")
                let calls = [
                    ("Containers.Describe", ["container": "den"]), ("Containers.List", [:]),
                    ("Daemon.Status", [:]), ("Plugins.List", [:]),
                    ("Plugins.Describe", ["plugin": "org.atrium.cheat"]),
                    ("Screens.Open", ["container": "den"]),
                ].map { name, parameters -> JSONValue in
                    [
                        "method": .string("org.atrium.\(name)"), "parameters": parameters,
                        "more": .bool(name == "Screens.Open"),
                    ]
                }
                for (role, hasDetails) in [
                    ("nobody", false), ("member", false), ("frontend", false), ("moderator", true),
                    ("admin", true),
                ] {
                    let replies = try await people.call(as: role, calls).map {
                        String(decoding: JSON.encode($0), as: UTF8.self)
                    }
                    #expect(replies.allSatisfy { !$0.contains("\"error\"") }, "\(replies)")
                    #expect(replies.contains { $0.contains("nonsense") } == hasDetails, "\(role)")
                    #expect(replies[0].contains("\"cause\":\"It failed") != hasDetails, "\(role)")
                }
            }
        }

        /// A folder with a plugin of the library that breaks.
        private static func plugin(
            _ name: String, _ kind: String, paths: [String] = []
        ) throws -> TemporaryDirectory {
            let folder = try TemporaryDirectory()
            try folder.write(
                "\(name)/manifest.json",
                """
                {"id": "org.atrium.\(name)", "version": "0.1.0", "kind": "\(kind)",
                 "library": "libBreaker.so", "title": "\(name)", "paths": \(paths)}
                """)
            try FileManager.default.copyItem(
                atPath: Checkout.products + "/libBreaker.so",
                toPath: "\(folder.path)/\(name)/libBreaker.so")
            return folder
        }

        /// What a process has open, by descriptor.
        private static func descriptors(of process: pid_t) throws -> [Int: String] {
            let folder = "/proc/\(process)/fd"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return try names.reduce(into: [:]) { found, name in
                let target = try FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(folder)/\(name)")
                if let number = Int(name) { found[number] = target }
            }
        }

        private static func vote(
            _ daemon: DaemonUnderTest, _ subject: String, _ value: Int
        ) async throws {
            let vote = try await daemon.type("atriumctl vote \(subject) \(value)")
            #expect(vote.status == 0, "\(vote)")
        }

        /// The daemon's children.
        private static func workers(of daemon: DaemonUnderTest) async throws -> [pid_t] {
            let pid = try #require(daemon.pid)
            let found = try await run(["pgrep", "--parent", "\(pid)", "atrium-worker"])
            return found.lines.compactMap { pid_t($0) }
        }
    }
}
