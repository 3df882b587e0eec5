import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What users may use up is the administrator's to say.
    @Suite struct Limits {
        private static func configuration(_ limits: String) -> DaemonUnderTest.Options {
            .init(configuration: ["atrium.yaml": "logLevel: info\nlimits:\n" + limits])
        }

        private static func search(_ bytes: Int) -> JSONValue {
            [
                "container": "films",
                "search": .string(String(repeating: "x", count: bytes)),
            ]
        }

        @Test func `a limit that is set holds, and whoever meets it gets the name of the setting`()
            async throws
        {
            let options = Self.configuration(
                "  searchBytes: 64\n  screensPerUser: 1\n  frameBytes: 4M\n")
            try await withFilms(options) { daemon in
                let peer = try daemon.peer()
                for interface in ["org.atrium.Contents", "org.atrium.Filters"] {
                    let refused = try await peer.call("\(interface).List", Self.search(65))
                    #expect(refused["error"]?.string == "\(interface).LimitExceeded")
                    #expect(refused["parameters"]?["value"]?.int == 64)
                    #expect(refused["parameters"]?["setting"]?.string == "limits.searchBytes")
                }
                let said = try await daemon.type(
                    "atriumctl list films --search \(String(repeating: "x", count: 65))")
                #expect(said.status == 1)
                #expect(said.errors.contains("at most 64 bytes"), "\(said)")
                #expect(said.errors.contains("raise limits.searchBytes in"), "\(said)")

                let screen = try await OpenScreen(daemon, ["container": "films", "limit": 5])
                let other = try daemon.peer()
                try await other.send(
                    Peer.frame("org.atrium.Screens.Open", ["container": "films"], more: true))
                let second = try await other.receive()
                #expect(
                    second?["parameters"]?["setting"]?.string == "limits.screensPerUser",
                    "\(second as Any)")
                #expect(screen.list("list").count == 5)

                let frame = [UInt8](repeating: 0x61, count: 5 << 20)
                _ = try await onThread { peer.trySending(frame) }
                let told = try await peer.receive()
                #expect(told?["parameters"]?["value"]?.int == 4 << 20, "\(told as Any)")
                #expect(daemon.log.contains("(limits.frameBytes)"), "\(daemon.log)")
            }
        }

        @Test func `a reload goes by new limits at once, also for who is connected`() async throws {
            try await withFilms(Self.configuration("  searchBytes: 64\n")) { daemon in
                let peer = try daemon.peer()
                let method = "org.atrium.Contents.List"
                #expect(try await peer.call(method, Self.search(65))["error"] != nil)

                try daemon.home.write(
                    "etc/atrium.yaml", "limits: {searchBytes: 1K, frameBytes: 4M, screens: 50}\n")
                let reloaded = try await daemon.type("atriumctl reload")
                #expect(reloaded.status == 0, "\(reloaded)")
                for key in ["searchBytes", "frameBytes", "screens", "screensPerUser"] {
                    #expect(reloaded.output.contains("limits.\(key): changed\n"), "\(reloaded)")
                }
                #expect(try await peer.call(method, Self.search(65))["error"] == nil)
                let frame = [UInt8](repeating: 0x61, count: 5 << 20)
                _ = try await onThread { peer.trySending(frame) }
                let told = try await peer.receive()
                #expect(told?["parameters"]?["value"]?.int == 4 << 20, "\(told as Any)")

                try daemon.home.write("etc/atrium.yaml", "limits:\n  searchBytes: 1M\n")
                let wrong = try await daemon.type("atriumctl reload")
                #expect(wrong.status == 1)
                #expect(wrong.errors.contains("atrium.yaml:2:16: limits.searchBytes"), "\(wrong)")
                #expect(wrong.errors.contains("from 64 to 64K"), "\(wrong)")
                let another = try daemon.peer()
                #expect(try await another.call(method, Self.search(1_024))["error"] == nil)
                #expect(try await another.call(method, Self.search(1_025))["error"] != nil)
            }
        }

        @Test(.enabled(if: geteuid() == 0, "acts for another user, as root alone can"))
        func `one user's connections are limited, and the log names the setting`() async throws {
            let group = ["setpriv", "--regid=20000", "--clear-groups"]
            var options = Self.configuration("  connectionsPerUser: 1\n")
            options.prefix = group
            try await withDaemon(options) { daemon in
                let second = try await daemon.type(
                    """
                    python3 -c 'import os, socket, subprocess, sys
                    first = socket.socket(socket.AF_UNIX)
                    first.connect(os.environ["ATRIUM_SOCKET"])
                    sys.exit(subprocess.call(["atriumctl", "status"]))'
                    """, as: 20_001)
                #expect(second.status != 0, "\(second)")
                #expect(second.errors.contains("(limits.connectionsPerUser)"), "\(second)")
                #expect(daemon.log.contains("(limits.connectionsPerUser)"), "\(daemon.log)")
            }
        }

        @Test(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
        func `members and a front end's people write at a pace, and get the time to go on`()
            async throws
        {
            let options = DaemonUnderTest.Options(
                prefix: ["setpriv", "--regid=20000", "--clear-groups"],
                configuration: [
                    "atrium.yaml": "frontends: [nobody=web]\n"
                        + "limits: {writesPerMinute: 1, frontendWritesPerMinute: 2}\n"
                ])
            try await withFilms(options) { daemon in
                func vote(_ rest: String = "", as user: UInt32) async throws -> Finished {
                    try await daemon.type("atriumctl vote films/alien-1979 4 \(rest)", as: user)
                }
                #expect(try await vote(as: 20_001).status == 0)
                let refused = try await vote(as: 20_001)
                #expect(refused.status != 0)
                #expect(refused.errors.contains("at most 1 times in a minute"), "\(refused)")
                #expect(refused.errors.contains("(limits.writesPerMinute)"), "\(refused)")
                #expect(refused.errors.contains("try again in"), "\(refused)")
                #expect(try await vote(as: 20_002).status == 0)

                #expect(try await vote("--actor web:1", as: 65_534).status == 0)
                let person = try await vote("--actor web:1", as: 65_534)
                #expect(person.errors.contains("(limits.writesPerMinute)"), "\(person)")
                #expect(try await vote("--actor web:2", as: 65_534).status == 0)
                let all = try await vote("--actor web:3", as: 65_534)
                #expect(all.errors.contains("(limits.frontendWritesPerMinute)"), "\(all)")
                for _ in 0..<3 { #expect(try await vote("--actor web:3", as: 0).status == 0) }
            }
        }

        @Test func `a limit in the environment beats the file's, and less may be put at once`()
            async throws
        {
            var options = Self.configuration("  searchBytes: 64\n  batchBytes: 512K\n")
            options.prefix = ["env", "ATRIUM_LIMITS_SEARCH_BYTES=1K"]
            try await withFilms(options) { daemon in
                let peer = try daemon.peer()
                let method = "org.atrium.Contents.List"
                #expect(try await peer.call(method, Self.search(1_024))["error"] == nil)
                #expect(try await peer.call(method, Self.search(1_025))["error"] != nil)
                func item(_ kibibytes: Int) async throws -> Finished {
                    try await daemon.type(
                        """
                        title=$(head -c \(kibibytes)K /dev/zero | tr '\\0' x)
                        printf '{"id":"big","fields":{"title":"%s"}}\\n' "$title" >big.ndjson
                        atriumctl import films big.ndjson
                        """)
                }
                let big = try await item(511)
                #expect(big.status == 0, "\(big)")
                let bigger = try await item(513)
                #expect(
                    bigger.errors.contains("524288 bytes (limits.batchBytes)"),
                    "\(bigger.errors)")
            }
        }

        @Test func `the environment sets limits too, and nothing wrong is passed over`()
            async throws
        {
            try await withDaemon(Self.configuration("  screens: 7\n")) { daemon in
                func check(_ variable: String) async throws -> Finished {
                    try await daemon.type(
                        "CONFIGURATION_DIRECTORY=$PWD/etc \(variable) atriumd --check")
                }
                #expect(try await check("ATRIUM_LIMITS_SCREENS_PER_USER=5").status == 0)
                #expect(try await check("ATRIUM_LIMITS_FRAME_BYTES=4M").status == 0)
                let wrong = try await check("ATRIUM_LIMITS_SCREENS=0")
                #expect(wrong.status == 78)
                #expect(
                    wrong.errors.contains(
                        "_SCREENS: expected a whole number from 1 to 1000000, found '0'"
                    ),
                    "\(wrong)")
                let more = try await check("ATRIUM_LIMITS_BATCH_BYTES=8M")
                #expect(more.status == 78)
                #expect(
                    more.errors.contains("_BATCH_BYTES: expected a size from 64K to 1M,")
                        && more.errors.contains("one entry of the store, of 1M at most: put fewer")
                        && more.errors.contains("found '8M'"), "\(more)")
                let unknown = try await check("ATRIUM_LIMITS_SCREEN=1")
                #expect(unknown.errors.contains("ATRIUM_LIMITS_SCREEN: unknown"), "\(unknown)")
                #expect(unknown.errors.contains("ATRIUM_LIMITS_SCREENS,"), "\(unknown)")
            }
        }
    }
}
