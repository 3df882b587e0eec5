import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// How it starts, stops, and for whom it runs.
    @Suite struct Service {
        @Test func `SIGTERM finishes what was accepted, and says so`() async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let calls = (0..<50).flatMap {
                    Peer.frame(
                        "org.atrium.Contents.Put",
                        [
                            "container": "films",
                            "items": [["id": .string("new-\($0)"), "fields": ["title": "New"]]],
                        ])
                }
                try await peer.send(calls)
                _ = try await peer.receive()
                daemon.signal(SIGTERM)
                try await daemon.stopping()
                var acknowledged = 1
                while let reply = try await peer.receive(), reply["error"] == nil {
                    acknowledged += 1
                }
                #expect(try await daemon.ended() == 0)
                #expect(daemon.log.contains("stopped"))
                #expect(!FileManager.default.fileExists(atPath: daemon.socket))

                try await daemon.start()
                let kept = try await daemon.type("atriumctl list films --search New --all --json")
                let ids = try kept.jsonLines.flatMap(\.ids).filter { $0.hasPrefix("new-") }
                #expect(ids.count == acknowledged, "what was answered is there, and no more")
            }
        }

        @Test func `definitions in containers.d are applied at the start and at a reload`()
            async throws
        {
            let films = try String(
                contentsOfFile: Checkout.root + "/Examples/films.yaml", encoding: .utf8)
            let options = DaemonUnderTest.Options(
                configuration: [
                    "containers.d/films.yaml": films,
                    "containers.d/broken.yaml": "atrium: 1\ncontaner: x\n",
                ])
            try await withDaemon(options) { daemon in
                let described = try await daemon.type("atriumctl describe films --json")
                #expect(described.status == 0, "\(described)")
                let status = try await daemon.type("atriumctl status --json")
                #expect(try status.json["state"]?.string == "degraded")
                #expect(try status.json["problems"]?[0]?.string?.contains("contaner") == true)

                try daemon.home.write("etc/containers.d/broken.yaml", "atrium: 1\ncontainer: x\n")
                let reloaded = try await daemon.type("atriumctl reload")
                #expect(reloaded.status == 0, "\(reloaded)")
                #expect(try await daemon.type("atriumctl describe x").status == 0)
                let healed = try await daemon.type("atriumctl status --json")
                #expect(try healed.json["state"]?.string == "ready", "\(healed)")
            }
        }

        @Test func `a mistyped setting keeps it from starting, with file and line`() async throws {
            let daemon = try await DaemonUnderTest(
                .init(configuration: ["atrium.yaml": "logLevel: info\nsokcet: /run/x\n"]))
            await #expect(throws: (any Error).self) { try await daemon.start() }
            #expect(try await daemon.ended() != 0)
            #expect(daemon.log.contains("atrium.yaml:2"), "\(daemon.log)")
            #expect(daemon.log.contains("socket"), "\(daemon.log)")
        }

        @Test(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
        func `only admins change what there is; a member gets the name of the role that it needs`()
            async throws
        {
            let group = ["setpriv", "--regid=20000", "--clear-groups"]
            try await withFilms(.init(prefix: group)) { daemon in
                let member = try await daemon.type("atriumctl delete films", as: 20_001)
                #expect(member.status == 1)
                #expect(member.errors.contains("admin"), "\(member)")
                let stranger = try await run(
                    [
                        "setpriv", "--reuid=20001", "--regid=20009", "--clear-groups",
                        daemon.tree.bin + "/atriumctl", "--socket", daemon.socket, "status",
                    ])
                #expect(stranger.status == 3)
                #expect(stranger.errors.contains("group"), "\(stranger)")
            }
        }

        @Test func `an ordinary user needs no file, no flag and no variable`() async throws {
            let tree = try await Installed.tree
            let home = try TemporaryDirectory()
            let user: UInt32 = geteuid() == 0 ? 20_777 : geteuid()
            chmod(home.path, 0o777)
            defer { try? FileManager.default.removeItem(atPath: "/tmp/atrium-20777") }
            let words =
                (geteuid() == 0
                    ? ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] : [])
                + ["bash", "-c", Self.story]
            let told = try await run(
                words,
                environment: withoutHosts.merging([
                    "HOME": home.path, "PATH": tree.bin + ":/usr/bin:/bin", "X": tree.examples,
                    "XDG_RUNTIME_DIR": geteuid() == 0 ? nil : home.path, "NOTIFY_SOCKET": nil,
                ]) { $1 })
            #expect(told.status == 0, "\(told)")
            #expect(told.lines.last == "125", "\(told)")
            let store = home.path + "/.local/state/atrium"
            #expect(FileManager.default.fileExists(atPath: store), "\(told)")
        }

        /// As a person would do it, who waits for the line that says `ready`.
        private static let story = """
            set -e
            coproc daemon { exec atriumd 2>&1; }
            trap 'kill $daemon_PID' EXIT
            while read -r -u ${daemon[0]} line; do case $line in *ready*) break;; esac; done
            atriumctl apply -f $X/films.yaml
            atriumctl import films $X/films.ndjson
            atriumctl list films --json --limit 1 | sed 's/.*"total":\\([0-9]*\\).*/\\1/'
            """
    }
}
