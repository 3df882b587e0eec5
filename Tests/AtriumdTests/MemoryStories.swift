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

        @Test func `screens are refused once what a user's screens show takes more than it may`()
            async throws
        {
            let options = DaemonUnderTest.Options(
                configuration: ["atrium.yaml": "limits: {screenBytesPerUser: 1M}\n"])
            try await withFilms(options) { daemon in
                var open: [Peer] = []
                var told: JSONValue?
                while told == nil, open.count < 500 {
                    let peer = try daemon.peer()
                    // Each has a view of its own.
                    let request: JSONValue = [
                        "container": "films", "limit": .int(Int64(500 + open.count)),
                    ]
                    try await peer.send(
                        Peer.frame("org.atrium.Screens.Open", request, more: true))
                    let reply = try #require(try await peer.receive())
                    if reply["error"] != nil { told = reply } else { open.append(peer) }
                }
                #expect(open.count > 2 && open.count < 500)
                #expect(told?["error"]?.string == "org.atrium.Screens.LimitExceeded")
                let setting = told?["parameters"]?["setting"]?.string
                #expect(setting == "limits.screenBytesPerUser", "\(told as Any)")
                let metrics = try await daemon.type("atriumctl metrics")
                let bytes = metrics.output.split(separator: "\n")
                    .first { $0.hasPrefix("atrium_screen_bytes ") }?
                    .split(separator: " ").last.flatMap { Double($0) }
                let shown = try #require(bytes)
                #expect(shown <= Double(1 << 20))
                #expect(shown > Double(1 << 19))
                // Those that wait for their user make room.
                open.removeAll()
                try await until {
                    let again = try daemon.peer()
                    try await again.send(
                        Peer.frame(
                            "org.atrium.Screens.Open", ["container": "films", "limit": 900],
                            more: true))
                    return try await again.receive()?["error"] == nil
                }
            }
        }

        @Test
        func `subscribers that read nothing cost what the kernel holds for them, and little more`()
            async throws
        {
            try await withFilms { daemon in
                var frozen: [Peer] = []
                for _ in 0..<500 {
                    let peer = try daemon.peer()
                    try await peer.send(
                        Peer.frame(
                            "org.atrium.Notifications.Subscribe", ["topics": ["films.app.>"]],
                            more: true))
                    _ = try await peer.receive()
                    frozen.append(peer)
                }
                let before = try Self.mostResident(daemon)
                let publisher = try daemon.peer()
                for _ in 0..<100 {
                    let reply = try await publisher.call(
                        "org.atrium.Notifications.Publish",
                        [
                            "topic": "films.app.noise", "durable": true,
                            "payload": ["text": .string(String(repeating: "x", count: 50_000))],
                        ])
                    #expect(reply["error"] == nil, "\(reply)")
                }
                // Each was told of 5 MB, and all of 2.5 GB.
                let grown = try Self.mostResident(daemon) - before
                #expect(grown < 64 << 20, "\(grown >> 20) MiB")
                #expect(frozen.count == 500)
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
