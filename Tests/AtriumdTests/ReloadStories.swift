import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// New code of plugins, which is taken when an administrator says so and not before.
    @Suite(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the plugins are in Python"))
    struct Reloads {
        private let folder: TemporaryDirectory

        private var options: DaemonUnderTest.Options {
            DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
        }

        init() throws {
            folder = try TemporaryDirectory()
            try write(1)
        }

        /// Writes a version of the plugin, whose score is so many times the sum of the votes.
        private func write(_ version: Int, _ changes: [(String, String)] = []) throws {
            let source = Checkout.root + "/Tests/Fixtures/Programs/likes"
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: "\(source)/\(name)", encoding: .utf8)
            }
            var program = try text("likes.py").replacingOccurrences(
                of: "sums.get(item, 0) + change", with: "sums.get(item, 0) + \(version) * change")
            for (old, new) in changes { program = program.replacingOccurrences(of: old, with: new) }
            try folder.write("likes/likes.py", program)
            chmod("\(folder.path)/likes/likes.py", 0o755)
            try folder.write(
                "likes/manifest.json",
                text("manifest.json").replacingOccurrences(of: "1.0.0", with: "\(version).0.0"))
        }

        private static func shelf(_ daemon: DaemonUnderTest, _ names: String...) async throws {
            for name in names {
                try daemon.home.write(
                    "\(name).yaml",
                    """
                    atrium: 1
                    container: \(name)
                    fields:
                      title: { type: text, required: true }
                    components:
                      - { name: list, plugin: org.atrium.catalog }
                      - { name: likes, plugin: org.test.likes }
                    """)
                let made = try await daemon.type("atriumctl apply -f \(name).yaml")
                #expect(made.status == 0, "\(made)")
                let items = JSONValue.array(
                    ["a", "b"].map { ["id": .string($0), "fields": ["title": .string($0)]] })
                let put = try await daemon.peer().call(
                    "org.atrium.Contents.Put", ["container": .string(name), "items": items])
                #expect(put["error"] == nil, "\(put)")
            }
        }

        private static func cast(
            _ peer: Peer, _ container: String, _ actor: String, _ value: Double = 1
        ) async throws -> JSONValue {
            try await peer.call(
                "org.atrium.Votes.Cast",
                [
                    "container": .string(container), "item": "a", "value": .double(value),
                    "actor": .string(actor),
                ])
        }

        private static func tally(
            _ daemon: DaemonUnderTest, _ container: String = "shelf"
        ) async throws -> JSONValue? {
            let reply = try await daemon.peer().call(
                "org.atrium.Votes.Tally", ["container": .string(container), "item": "a"])
            return reply["parameters"]?["tally"]
        }

        private static func describe(_ daemon: DaemonUnderTest) async throws -> JSONValue? {
            let reply = try await daemon.peer().call(
                "org.atrium.Plugins.Describe", ["plugin": "org.test.likes"])
            return reply["parameters"]?["plugin"]
        }

        private static func workers(of daemon: DaemonUnderTest) async throws -> [pid_t] {
            let pid = try #require(daemon.pid)
            let found = try await run(["pgrep", "--parent", "\(pid)", "atrium-worker"])
            return found.lines.compactMap { pid_t($0) }
        }

        @Test func `a plugin is reloaded under load, with its screens open and no vote lost`()
            async throws
        {
            try await withDaemon(options) { daemon in
                try await Self.shelf(daemon, "shelf")
                let screen = try await OpenScreen(daemon, ["container": "shelf"])
                let id = screen.id
                let (voters, each) = (4, 60)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for voter in 0..<voters {
                        group.addTask {
                            let peer = try daemon.peer()
                            for number in 0..<each {
                                let reply = try await Self.cast(
                                    peer, "shelf", "web:\(voter * each + number)")
                                #expect(reply["error"] == nil, "\(reply)")
                            }
                        }
                    }
                    for version in 2...3 {
                        try write(version)
                        let reloaded = try await daemon.type(
                            "atriumctl plugin reload org.test.likes")
                        #expect(reloaded.status == 0, "\(reloaded)")
                        #expect(
                            reloaded.output.contains(
                                "version \(version).0.0, before \(version - 1).0.0"),
                            "\(reloaded)")
                    }
                    try await group.waitForAll()
                }
                let tally = try await Self.tally(daemon)
                #expect(tally?["count"]?.int == voters * each)
                #expect(tally?["score"]?.double == Double(3 * voters * each), "\(tally as Any)")
                func votes() -> JSONValue? {
                    screen.list("list").first { $0["id"]?.string == "a" }?["votes"]
                }
                while votes()?["score"]?.double != Double(3 * voters * each) {
                    try await screen.next()
                }
                #expect(screen.id == id && screen.reset == nil)
                #expect(votes()?["count"]?.int == voters * each)
                #expect(try await Self.workers(of: daemon).count == 1, "the old ones are gone")

                let revisions = screen.revisions
                try write(1)
                let back = try await daemon.follow(
                    "timeout 60 atriumctl watch 'daemon.plugins.*' --json"
                ) { lines in
                    _ = try await lines.next()
                    _ = try await daemon.type("atriumctl plugin reload org.test.likes")
                    return try await lines.next()
                }
                #expect(
                    back.contains("daemon.plugins.reloaded") && back.contains("1.0.0"), "\(back)")
                try await screen.next()
                #expect(votes()?["score"]?.double == Double(voters * each))
                #expect(screen.revisions == revisions + 1, "the new scores come at once")
            }
        }

        @Test func `a version that can't be started leaves the one before in all containers`()
            async throws
        {
            try await withDaemon(options) { daemon in
                try await Self.shelf(daemon, "first", "second")
                let peer = try daemon.peer()
                for name in ["first", "second"] {
                    #expect(try await Self.cast(peer, name, "web:1", 5)["error"] == nil)
                }
                let start = "    how.update(settings)\n"
                let refusal = "raise Failure('SettingInvalid', setting='at', reason='no')"
                for (version, changes, word) in [
                    (2, [("import json", "import jsonn")], "ended with status 1"),
                    (
                        3,
                        [(start, start + "    if container == 'second': raise KeyError\n")],
                        "second/likes"
                    ),
                    (4, [("#!/usr/bin/python3", "#!/nowhere")], "can't be started"),
                    (
                        5, [(start, start + "    os.read(os.pipe()[0], 1)\n")],
                        "has not answered for 5.0 seconds while it is being started. Version"
                    ),
                    (
                        6,
                        [(start, start + "    \(refusal)\n")],
                        "no. Version"
                    ),
                ] {
                    try write(version, changes)
                    let failed = try await daemon.type("atriumctl plugin reload org.test.likes")
                    #expect(failed.status == 1, "\(failed)")
                    #expect(failed.errors.contains(word), "\(failed)")
                    #expect(failed.errors.contains("Version 1.0.0 goes on."), "\(failed)")
                    #expect(!failed.errors.contains("detach"), "\(failed)")
                    #expect(daemon.log.contains("a plugin was not reloaded"))
                    for name in ["first", "second"] {
                        #expect(
                            try await Self.tally(daemon, name)?["score"]?.double == 5, "\(name)")
                    }
                    let plugin = try await Self.describe(daemon)
                    #expect(plugin?["version"]?.string == "1.0.0")
                    #expect(plugin?["onDisk"]?["version"]?.string == "\(version).0.0")
                }
                try folder.write("likes/manifest.json", "{")
                let failed = try await daemon.type("atriumctl plugin reload org.test.likes")
                #expect(failed.status == 1 && failed.errors.contains("manifest.json"), "\(failed)")
                let shown = try await daemon.type("atriumctl plugins")
                #expect(shown.output.contains("can't be loaded"), "\(shown)")

                try write(7)
                let table = try await daemon.type("atriumctl plugin describe org.test.likes")
                #expect(table.output.contains("org.test.likes 1.0.0"), "\(table)")
                #expect(table.output.contains("Version 7.0.0 is on the disk"), "\(table)")
                let reloaded = try await daemon.type("atriumctl plugin reload org.test.likes")
                #expect(reloaded.output.contains("2 components"), "\(reloaded)")
                for name in ["first", "second"] {
                    #expect(try await Self.tally(daemon, name)?["score"]?.double == 35, "\(name)")
                }
                #expect(try await Self.describe(daemon)?["onDisk"] == nil)
            }
        }

        @Test func `a program that changed is not run after a crash until it is reloaded`()
            async throws
        {
            try await withDaemon(options) { daemon in
                try await Self.shelf(daemon, "shelf")
                let peer = try daemon.peer()
                #expect(try await Self.cast(peer, "shelf", "web:1", 5)["error"] == nil)
                try folder.write("likes/words.py", "more = 1")
                let worker = try #require(try await Self.workers(of: daemon).first)
                #expect(Glibc.kill(worker, SIGKILL) == 0)
                try await until {
                    let troubles = try await Self.describe(daemon)?["troubles"]?.array ?? []
                    return troubles.contains {
                        $0.string?.contains("has changed since the plugin was loaded") ?? false
                    }
                }
                let advice = try await Self.describe(daemon)?["onDisk"]?["advice"]?.string
                #expect(
                    advice == "Another file of version 1.0.0 is on the disk: "
                        + "'atriumctl plugin reload org.test.likes' takes it.")
                try write(2)
                async let waiting = Self.cast(peer, "shelf", "web:2", 1)
                let reloaded = try await daemon.type("atriumctl plugin reload org.test.likes")
                #expect(reloaded.status == 0, "\(reloaded)")
                // One that came when calls were refused is cast again.
                if try await waiting["error"] != nil {
                    #expect(try await Self.cast(peer, "shelf", "web:2", 1)["error"] == nil)
                }
                #expect(try await Self.tally(daemon)?["score"]?.double == 12)
            }
        }

        @Test
        func `a library that was replaced is run as it was, after a crash, until it is reloaded`()
            async throws
        {
            try folder.addBreaker("breaker")
            let library = folder.path + "/breaker/libBreaker.so"
            try await withDaemon(options) { daemon in
                try daemon.home.write(
                    "broken.yaml",
                    """
                    atrium: 1
                    container: broken
                    fields:
                      title: { type: text }
                    components:
                      - { name: list, plugin: org.atrium.breaker }
                    """)
                let made = try await daemon.type("atriumctl apply -f broken.yaml")
                #expect(made.status == 0, "\(made)")
                let reload = "atriumctl plugin reload org.atrium.breaker"
                func kill() async throws {
                    let worker = try #require(try await Self.workers(of: daemon).first)
                    #expect(Glibc.kill(worker, SIGKILL) == 0)
                    try await until {
                        let workers = try await Self.workers(of: daemon)
                        return !workers.isEmpty && !workers.contains(worker)
                    }
                }
                func state() async throws -> JSONValue? {
                    let reply = try await daemon.peer().call(
                        "org.atrium.Containers.Describe", ["container": "broken"])
                    return reply["parameters"]?["container"]?["components"]?[0]?["state"]
                }
                // As packages do it: a new file takes the name.
                try "no library".write(toFile: library + ".new", atomically: false, encoding: .utf8)
                #expect(rename(library + ".new", library) == 0)
                try await kill()
                try await until { try await state()?.string == "attached" }
                #expect(daemon.log.contains("was replaced since the plugin was loaded"))
                let refused = try await daemon.type(reload)
                #expect(refused.status == 1, "\(refused)")
                #expect(refused.errors.contains("is no library that can be loaded"), "\(refused)")

                // Also where the whole folder is another one.
                #expect(rename(folder.path + "/breaker", folder.path + "/.old") == 0)
                try folder.addBreaker("breaker")
                try await kill()
                try await until { try await state()?.string == "attached" }
                let reloaded = try await daemon.type(reload)
                #expect(reloaded.status == 0, "\(reloaded)")
                let plugins = try await daemon.type("atriumctl plugins")
                #expect(!plugins.output.contains("on the disk"), "\(plugins)")
            }
        }

        @Test func `the settings of plugins that live in workers are listed, for the loaded code`()
            async throws
        {
            try folder.addBreaker("breaker")
            try await withDaemon(options) { daemon in
                let describe = "atriumctl plugin describe org.test.likes"
                let likes = try await daemon.type(describe)
                #expect(likes.output.contains("number from 1 to 5"), "\(likes)")
                #expect(likes.output.contains("the most that is taken"), "\(likes)")
                let breaker = try await daemon.peer().call(
                    "org.atrium.Plugins.Describe", ["plugin": "org.atrium.breaker"])
                #expect(breaker["parameters"]?["problem"] == nil, "\(breaker)")
                #expect(breaker["parameters"]?["settings"]?.array?.isEmpty == false, "\(breaker)")
                try await until { try await Self.workers(of: daemon).isEmpty }

                // Known for this code, which is not there any more.
                try write(2, [("import json", "import jsonn")])
                #expect(try await daemon.type(describe).output.contains("from 1 to 5"))
                let broken = try await daemon.type("atriumctl plugin reload org.test.likes")
                #expect(broken.status == 1, "no component is made of it: \(broken)")
                #expect(broken.errors.contains("Version 2.0.0 of the plugin"), "\(broken)")
                #expect(broken.errors.contains("ended with status 1"), "\(broken)")
                #expect(broken.errors.contains("Version 1.0.0 goes on."), "\(broken)")
                let kept = try await daemon.type(describe)
                #expect(kept.output.contains("org.test.likes 1.0.0"), "\(kept)")
                #expect(kept.output.contains("from 1 to 5"), "\(kept)")
            }
        }

        @Test
        func
            `a plugin that lives in the daemon is not reloaded, and one that was refused is loaded`()
            async throws
        {
            try folder.write("likes/manifest.json", "{")
            try await withFilms(options) { daemon in
                let refused = try await daemon.type("atriumctl plugin reload org.atrium.stars")
                #expect(refused.status == 1, "\(refused)")
                #expect(refused.errors.contains("restart the daemon"), "\(refused)")
                let none = try await daemon.type("atriumctl plugin reload org.example.none")
                #expect(none.status == 1 && none.errors.contains("there is no plugin"), "\(none)")

                try write(2)
                let loaded = try await daemon.type(
                    "atriumctl plugin reload org.test.likes && "
                        + "atriumctl attach films likes --plugin org.test.likes")
                #expect(loaded.status == 0, "\(loaded)")
                #expect(
                    loaded.output.contains("reloaded, version 2.0.0, 0 components"), "\(loaded)")
                let plugins = try await daemon.type("atriumctl plugins --json")
                let states = try plugins.json["plugins"]?.array?.filter {
                    $0["path"]?.string?.hasPrefix(folder.path) ?? false
                }.map { $0["state"]?.string }
                #expect(states == ["loaded"], "\(plugins)")
            }
        }
    }
}
