import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What one user makes the daemon keep is bounded by what the settings give.
    @Suite struct Memory {
        @Test func `writes that are pipelined wait at the socket before they fill the memory`()
            async throws
        {
            let options = DaemonUnderTest.Options(
                configuration: ["atrium.yaml": "limits: {bytesPerUser: 16M}\n"])
            try await withFilms(options) { daemon in
                let before = try Self.mostResident(daemon)
                let call = Peer.frame(
                    "org.atrium.Notifications.Publish",
                    [
                        "topic": "films.app.noise", "durable": true,
                        "payload": [
                            "text": .string(String(repeating: "x", count: 250_000))
                        ],
                    ])
                let calls = (call: call, count: 60)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        let peer = try daemon.peer()
                        group.addTask {
                            for _ in 0..<calls.count { try await peer.send(calls.call) }
                        }
                        group.addTask {
                            for _ in 0..<calls.count {
                                let reply = try #require(try await peer.receive())
                                #expect(reply["parameters"]?["sequence"]?.int != nil, "\(reply)")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                // The rest is for the store's cache, the rings and what the allocator keeps.
                let grown = try Self.mostResident(daemon) - before
                #expect(grown < 16 << 20 + 64 << 20, "\(grown >> 20) MiB")
            }
        }

        /// The most memory that the daemon ever had, in bytes.
        private static func mostResident(_ daemon: DaemonUnderTest) throws -> Int {
            let pid = try #require(daemon.pid)
            let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            let kilobytes = try #require(
                line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first)
            return try #require(Int(kilobytes)) << 10
        }
    }
}
