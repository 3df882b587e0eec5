import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Starts with a component that hangs in `init`.
    @Suite struct Starts {
        /// A folder with the plugin that hangs as long as the file `hang` is in it.
        private struct Hanging {
            let folder: TemporaryDirectory
            let options: DaemonUnderTest.Options

            private var file: String { folder.path + "/hang" }

            init() throws {
                folder = try TemporaryDirectory()
                try folder.addBreaker("breaker")
                options = DaemonUnderTest.Options(
                    arguments: ["--plugin-path", folder.path],
                    prefix: ["env", "BREAKER_HANGS_WHILE=\(folder.path)/hang"])
            }

            /// Has a daemon make the component `broken/list`, in a process of its own, start anew while
            /// that hangs, and wait for it with a call.
            ///
            /// - Returns: who waits: before the daemon is ready, since nobody is let go before 5 s.
            func whileStarting(
                _ daemon: DaemonUnderTest, also command: String = "true"
            ) async throws -> Peer {
                let made = try await daemon.type(Starts.broken("process") + " && " + command)
                #expect(made.status == 0, "\(made)")
                try await daemon.stop()
                try hang()
                try await daemon.begin()
                try await until { (try? daemon.peer()) != nil }
                let waiting = try daemon.peer()
                try await waiting.send(
                    Peer.frame("org.atrium.Contents.List", ["container": "broken"]))
                return waiting
            }

            func hang() throws { try folder.write("hang", "") }

            func goOn() throws { try FileManager.default.removeItem(atPath: file) }
        }

        fileprivate static func broken(_ isolation: String) -> String {
            "echo '{atrium: 1, container: broken, fields: {title: {type: text}}, components: "
                + "[{name: list, plugin: org.atrium.breaker, isolation: \(isolation)}]}' "
                + ">broken.yaml && atriumctl apply -f broken.yaml"
        }

        @Test func `while a component hangs in init all else is served, and then it is taken in`()
            async throws
        {
            let hanging = try Hanging()
            try await withFilms(hanging.options) { daemon in
                let waiting = try await hanging.whileStarting(
                    daemon, also: "atriumctl put broken/kept title=kept")
                let films = try await daemon.type(
                    "atriumctl list films --limit 1 --json && atriumctl vote films/heat-1995 4")
                #expect(films.status == 0, "\(films)")
                let other = try await daemon.type(
                    "sed 's/^container: films/container: more/' $EXAMPLES/films.yaml >more.yaml && "
                        + "atriumctl apply -f more.yaml")
                #expect(other.status == 0, "\(other)")

                let refused = try #require(try await waiting.receive())
                #expect(refused["error"]?.string?.hasSuffix("ComponentUnavailable") == true)
                #expect(refused["parameters"]?["component"]?.string == "list")
                let reason = refused["parameters"]?["reason"]?.string ?? ""
                #expect(
                    reason == "It is being started, which takes longer than usual: try again later."
                )
                #expect(daemon.log.contains("org.atrium.breaker has not answered for 5.0 seconds"))
                try await daemon.ready()
                let status = try await daemon.type("atriumctl status --json")
                #expect(try status.json["state"]?.string == "degraded")
                let problems = try status.json["problems"]?.array?.compactMap(\.string) ?? []
                #expect(problems.contains { $0.contains("broken/list does not start") })

                try hanging.goOn()
                try await until {
                    try await daemon.type("atriumctl list broken").status == 0
                }
                let kept = try await daemon.type("atriumctl list broken --json")
                #expect(try kept.json.ids == ["kept"])
                let well = try await daemon.type("atriumctl status --json")
                #expect(try well.json["state"]?.string == "ready")
            }
        }

        @Test func `a daemon asked to stop while a component hangs ends, and keeps nobody waiting`()
            async throws
        {
            let hanging = try Hanging()
            try await withDaemon(hanging.options) { daemon in
                let waiting = try await hanging.whileStarting(daemon)
                // Its call has arrived once one behind it on the loop is answered.
                _ = try await daemon.peer().call("org.atrium.Daemon.Status")
                let status = try await daemon.stop()
                #expect(status == 0)
                let refused = try #require(try await waiting.receive())
                #expect(refused["error"]?.string?.hasSuffix("ComponentUnavailable") == true)
                try hanging.goOn()
                try await daemon.start()
            }
        }

        @Test func `a new component that hangs is applied, and taken in once it is there`()
            async throws
        {
            let hanging = try Hanging()
            try await withFilms(hanging.options) { daemon in
                try hanging.hang()
                async let applied = daemon.type(Self.broken("process"))
                let films = try await daemon.type("atriumctl vote films/heat-1995 4")
                #expect(films.status == 0, "\(films)")
                let made = try await applied
                #expect(made.status == 0, "\(made)")
                #expect(made.output.contains("component list: not there yet"), "\(made)")
                let put = try await daemon.type("atriumctl put broken/kept title=kept")
                #expect(put.status != 0)
                #expect(put.errors.contains("takes longer than usual"), "\(put)")
                let described = try await daemon.type("atriumctl describe broken --json")
                let reason = try described.json["container"]?["components"]?[0]?["reason"]?.string
                #expect(
                    reason?.contains("has not answered for 5.0 seconds") == true, "\(described)")
                try hanging.goOn()
                try await until {
                    try await daemon.type("atriumctl put broken/kept title=kept").status == 0
                }
                let well = try await daemon.type("atriumctl status --json")
                #expect(try well.json["state"]?.string == "ready")
            }
        }

        @Test func `a plugin that hangs in the daemon itself is named by the next process`()
            async throws
        {
            let hanging = try Hanging()
            try await withDaemon(hanging.options) { daemon in
                try hanging.hang()
                async let applied = daemon.type(Self.broken("daemon"))
                let note = daemon.home.path + "/state/atrium.making"
                try await until {
                    (try? String(contentsOfFile: note, encoding: .utf8).isEmpty) == false
                }
                try await daemon.kill()
                #expect(try await applied.status != 0)
                try hanging.goOn()
                try await daemon.start()
                let blame =
                    "The previous daemon process ended while it made the component broken/list"
                #expect(daemon.log.contains(blame))
                let status = try await daemon.type("atriumctl status --json")
                let problems = try status.json["problems"]?.array?.compactMap(\.string) ?? []
                #expect(problems.contains { $0.hasPrefix(blame) }, "\(problems)")
                let made = try await daemon.type(Self.broken("daemon"))
                #expect(made.status == 0, "\(made)")
                let well = try await daemon.type("atriumctl status --json")
                #expect(try well.json["state"]?.string == "ready")
            }
        }
    }
}
