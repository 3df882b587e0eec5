import Foundation
import JSONCodec
import TestSupport
import Testing

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
                #expect(try best.json["items"]?[1]?["votes"]?["score"]?.double == 4)
                #expect(try await Self.workers(of: daemon) != [worker])
                let after = try await daemon.type(restarts)
                #expect(after.output.hasSuffix(" 1\n"), "\(after)")
                #expect(daemon.log.contains("signal 9") || daemon.log.contains("SIGKILL"))
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
