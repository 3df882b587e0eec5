import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// The disk of the state directory has no room left when the daemon starts.
    @Suite(.enabled(if: geteuid() == 0, "mounts a small file system, as root alone can"))
    struct FullDisks {
        @Test func `the daemon starts, is read, and takes votes once there is room`() async throws {
            let room = try TemporaryDirectory()
            #expect(mount("small", room.path, "tmpfs", 0, "size=24m") == 0)
            defer { umount2(room.path, Int32(MNT_DETACH)) }
            let options = DaemonUnderTest.Options(arguments: ["--state-directory", room.path])
            try await withFilms(options) { daemon in
                try await daemon.stop()
                let filled = try await daemon.type("cat /dev/zero >\(room.path)/filler")
                #expect(filled.errors.contains("No space left"), "\(filled)")

                try await daemon.start()
                let list = try await daemon.type("atriumctl list films --limit 1 --json")
                #expect(try list.json.ids.count == 1, "\(list)")
                _ = try await Self.voteUntilRefused(daemon)
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("full"), "\(status)")

                unlink(room.path + "/filler")
                try await until { try await Self.vote(daemon)["error"] == nil }
            }
        }

        @Test func `killed on the full disk it starts there again, with all that was acknowledged`()
            async throws
        {
            let room = try TemporaryDirectory()
            #expect(mount("small", room.path, "tmpfs", 0, "size=24m") == 0)
            defer { umount2(room.path, Int32(MNT_DETACH)) }
            let options = DaemonUnderTest.Options(arguments: ["--state-directory", room.path])
            try await withFilms(options) { daemon in
                for _ in 0..<2 {
                    // What an earlier start left of its reserve is taken, too.
                    let filled = try await daemon.type(
                        "rm -f \(room.path)/atrium.reserve; cat /dev/zero >>\(room.path)/filler")
                    #expect(filled.errors.contains("No space left"), "\(filled)")
                    let last = try await Self.voteUntilRefused(daemon)
                    try await daemon.kill()
                    try await daemon.start()
                    let list = try await daemon.type("atriumctl list films --limit 1 --json")
                    #expect(try list.json.ids.count == 1, "\(list)")
                    guard let last else { continue }
                    let found = try await daemon.peer().call(
                        "org.atrium.Votes.Tally", ["container": "films", "item": "alien-1979"])
                    #expect(found["parameters"]?["tally"]?["histogram"] == last, "\(found)")
                }
                unlink(room.path + "/filler")
                try await until { try await Self.vote(daemon)["error"] == nil }
            }
        }

        /// Votes for as long as there is room: for a few entries in what the start has left.
        ///
        /// - Returns: the ballots after the last one that was acknowledged; nil if none was.
        private static func voteUntilRefused(
            _ daemon: DaemonUnderTest
        ) async throws -> JSONValue? {
            var last: JSONValue?
            var vote = try await Self.vote(daemon)
            for _ in 0..<1_000 where vote["error"] == nil {
                last = vote["parameters"]?["tally"]?["histogram"]
                vote = try await Self.vote(daemon)
            }
            #expect(vote["error"]?.string == "org.atrium.Votes.StoreUnavailable", "\(vote)")
            return last
        }

        private static func vote(_ daemon: DaemonUnderTest) async throws -> JSONValue {
            try await daemon.peer().call(
                "org.atrium.Votes.Cast",
                [
                    "container": "films", "item": "alien-1979",
                    "value": .int(Int64.random(in: 1...5)),
                ])
        }
    }
}
