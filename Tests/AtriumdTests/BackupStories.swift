import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A copy of the whole store that is taken while the daemon runs, and what can be made of it.
    @Suite struct Backups {
        private static let items = 300

        /// Something to vote on, and how to.
        private static func fill(_ daemon: DaemonUnderTest, padding: Int = 0) async throws {
            let definition = """
                atrium: 1
                container: parts
                title: Parts
                fields: { title: { type: text, required: true } }
                components:
                  - { name: list, plugin: org.atrium.catalog }
                  - { name: stars, plugin: org.atrium.stars, settings: { subjects: [items] } }
                  - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items] } }
                """
            let peer = try daemon.peer()
            let applied = try await peer.call(
                "org.atrium.Containers.Apply",
                ["definitions": [["file": "parts.yaml", "text": .string(definition)]]])
            #expect(applied["error"] == nil, "\(applied)")
            let title = String(repeating: "x", count: padding + 1)
            // A call takes 1 MiB.
            let batch = padding > 0 ? 10 : 100
            for first in stride(from: 0, to: items, by: batch) {
                let parts = (first..<first + batch).map { number -> JSONValue in
                    ["id": .string("part-\(number)"), "fields": ["title": .string(title)]]
                }
                let put = try await peer.call(
                    "org.atrium.Contents.Put", ["container": "parts", "items": .array(parts)])
                #expect(put["error"] == nil, "\(put)")
            }
        }

        private static func status(_ daemon: DaemonUnderTest) async throws -> JSONValue {
            try #require(try await daemon.peer().call("org.atrium.Daemon.Status")["parameters"])
        }

        /// Makes a daemon with a backup in its state directory, and starts it.
        private static func withRestored(
            _ backup: String, _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            let daemon = try await DaemonUnderTest(.init())
            let restored = try await daemon.type(
                "atriumctl restore '\(backup)' --state-directory state")
            #expect(restored.status == 0, "\(restored)")
            #expect(restored.output.contains("sequence"), "\(restored)")
            try await daemon.start()
            do {
                try await story(daemon)
                try await daemon.stop()
            } catch {
                try? await daemon.kill()
                throw error
            }
        }

        @Test func `a backup is written into a pipe, and to where a link leads`() async throws {
            try await withDaemon { daemon in
                try await Self.fill(daemon)
                let piped = try await daemon.type(
                    """
                    mkfifo pipe && wc -c <pipe >count &
                    until test -p pipe; do :; done
                    atriumctl backup pipe --force && wait && test -p pipe && cat count
                    """)
                #expect(piped.status == 0, "\(piped)")
                #expect((piped.lines.last.flatMap { Int($0) } ?? 0) > 10_000, "\(piped)")
                let linked = try await daemon.type(
                    """
                    mkdir far && echo old >far/copy && ln -s far/copy link
                    ! atriumctl backup link && atriumctl backup link --force
                    test -L link && test ! -L far/copy && ! grep -q old far/copy && ls far
                    """)
                #expect(linked.status == 0 && linked.output.hasSuffix("\ncopy\n"), "\(linked)")
            }
        }

        @Test func `a backup or an export of which the reader leaves before its end ends with 1`()
            async throws
        {
            try await withDaemon { daemon in
                try await Self.fill(daemon, padding: 60_000)
                for command in ["backup", "backup -", "export parts", "export parts --all"] {
                    let cut = try await daemon.type(
                        "atriumctl \(command) | head -c 1000 >part; exit ${PIPESTATUS[0]}")
                    #expect(cut.status == 1, "\(command): \(cut)")
                    #expect(
                        cut.errors.contains("can't write standard output: Broken pipe"), "\(cut)")
                }
            }
        }

        @Test func `what a killed backup left is written over, and one that is running is not`()
            async throws
        {
            try await withDaemon { daemon in
                try await Self.fill(daemon)
                let made = try await daemon.type(
                    """
                    echo left >.nightly.part && atriumctl backup nightly && ! test -e .nightly.part
                    ! grep -q left nightly && flock .nightly.part atriumctl backup nightly --force
                    """)
                #expect(made.status == 1, "\(made)")
                #expect(
                    made.errors.contains("another process is writing nightly, by way of /"),
                    "\(made)")
                let others = try await daemon.type(
                    "rm .nightly.part; ln -s nightly .nightly.part; atriumctl backup nightly --force"
                )
                #expect(others.status == 1, "\(others)")
                #expect(
                    others.errors.contains("/.nightly.part: Too many levels of symbolic links"),
                    "\(others)")
            }
        }

        @Test func `a backup amid votes holds those up to its sequence, and none after it`()
            async throws
        {
            try await withDaemon { daemon in
                try await Self.fill(daemon)
                let voter = try daemon.peer()
                // All on their way, and answered while the copy is made.
                try await voter.send(
                    (0..<Self.items).flatMap { number in
                        Peer.frame(
                            "org.atrium.Votes.Cast",
                            [
                                "container": "parts", "item": .string("part-\(number)"),
                                "value": 4,
                            ])
                    })
                let backup = try await daemon.type("atriumctl backup copy.backup --json")
                #expect(backup.status == 0, "\(backup)")
                let told = try backup.json
                var sequences: [Int] = []
                for _ in 0..<Self.items {
                    let reply = try #require(try await voter.receive())
                    sequences.append(
                        try #require(reply["parameters"]?["sequence"]?.int, "\(reply)"))
                }
                let file = daemon.home.path + "/copy.backup"
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                #expect(attributes[.size] as? Int == told["bytes"]?.int)
                let last = try #require(told["sequence"]?.int)
                let before = try await Self.status(daemon)
                #expect(told["store"] == before["store"])
                #expect(
                    try FileManager.default.contentsOfDirectory(
                        atPath: daemon.home.path + "/state"
                    ).filter { $0.contains("backup") } == [])
                try await Self.withRestored(file) { copy in
                    let now = try await Self.status(copy)
                    #expect(now["sequence"]?.int == last)
                    #expect(now["store"] != before["store"])
                    #expect(now["items"] == before["items"])
                    #expect(now["state"]?.string == "ready", "\(now)")
                    let peer = try copy.peer()
                    for (number, sequence) in sequences.enumerated() {
                        let tally = try await peer.call(
                            "org.atrium.Votes.Tally",
                            ["container": "parts", "item": .string("part-\(number)")])
                        let count = tally["parameters"]?["tally"]?["count"]?.int
                        #expect(count == (sequence <= last ? 1 : 0), "\(number), #\(sequence)")
                    }
                }
            }
        }

        @Test func `a restored store is the same but for its identity, and old cursors get a gap`()
            async throws
        {
            try await withFilms { daemon in
                let made = try await daemon.type(
                    "atriumctl vote films/alien-1979 5 && "
                        + "atriumctl comment films/alien-1979 'in space' && "
                        + "atriumctl backup >copy.backup && atriumctl export films --all --json "
                        + "| tail -n +2 >before.ndjson")
                #expect(made.status == 0, "\(made)")
                #expect(made.errors.contains("wrote "), "\(made)")
                let old = try await Self.status(daemon)
                let definition = try await daemon.type("atriumctl describe films --json").json
                try await Self.withRestored(daemon.home.path + "/copy.backup") { copy in
                    let same = try await copy.type(
                        "atriumctl export films --all --json | tail -n +2 "
                            + "| cmp - \(daemon.home.path)/before.ndjson && atriumctl verify")
                    #expect(same.status == 0, "\(same)")
                    let now = try await copy.type("atriumctl describe films --json").json
                    #expect(now["definition"] == definition["definition"])
                    #expect(now["container"] == definition["container"])
                    // It gets beyond the old one's last sequence, as it goes on.
                    let voted = try await copy.type(
                        "for i in 1 2 3; do atriumctl vote films/alien-1979 $i; done")
                    #expect(voted.status == 0, "\(voted)")
                    let after = try #require(old["sequence"])
                    let gap = try await Self.gap(copy, after: after, store: old["store"])
                    #expect(gap?["reason"]?.string == "replaced")
                    let own = try await Self.status(copy)["store"]
                    #expect(try await Self.gap(copy, after: after, store: own) == nil)
                    let store = try #require(old["store"]?.string)
                    let watched = try await copy.follow(
                        "atriumctl watch --after 3 --store \(store) 2>&1"
                    ) { lines in try await lines.next() }
                    #expect(watched.contains("the store was replaced"), "\(watched)")
                }
            }
        }

        private static func gap(
            _ daemon: DaemonUnderTest, after: JSONValue, store: JSONValue?
        ) async throws -> JSONValue? {
            let peer = try daemon.peer()
            try await peer.send(
                Peer.frame(
                    "org.atrium.Notifications.Subscribe",
                    ["topics": ["films.>"], "after": after, "store": store ?? .null], more: true))
            let first = try #require(try await peer.receive())
            #expect(first["error"] == nil, "\(first)")
            let own = try await Self.status(daemon)["store"]
            #expect(first["parameters"]?["store"] == own)
            return first["parameters"]?["gap"]
        }

        @Test func `a restore over a store, a running daemon's or a damaged file changes nothing`()
            async throws
        {
            try await withFilms { daemon in
                let made = try await daemon.type(
                    "atriumctl backup copy && ! atriumctl backup copy && atriumctl backup copy --force "
                        + "&& head -c -1 copy >cut && python3 -c '"
                        + "data = open(\"copy\", \"rb\").read(); at = data.index(b\"Alien\"); "
                        + "open(\"damaged\", \"wb\").write(data[:at] + b\"B\" + data[at + 1:])'")
                #expect(made.status == 0, "\(made)")
                #expect(made.errors.contains("--force replaces it"), "\(made)")
                let running = try await daemon.type(
                    "atriumctl restore copy --replace --state-directory state")
                #expect(running.status == 1, "\(running)")
                #expect(running.errors.contains("in use by another daemon"), "\(running)")
                let unnamed = try await daemon.type("ATRIUM_SOCKET=other atriumctl restore none")
                #expect(unnamed.status == 2, "\(unnamed)")
                #expect(unnamed.errors.contains("--state-directory FOLDER"), "\(unnamed)")
                let before = try await Self.status(daemon)
                try await daemon.stop()
                for (command, error) in [
                    ("copy", "--replace keeps it"),
                    ("cut --replace", "is not whole"),
                    ("damaged --replace", "is damaged"),
                    ("log --replace", "no SQLite database"),
                    ("state/atrium.sqlite-none --replace", "No such file"),
                ] {
                    let refused = try await daemon.type(
                        "atriumctl restore \(command) --state-directory state")
                    #expect(refused.status == 1, "\(refused)")
                    #expect(refused.errors.contains(error), "\(refused)")
                    #expect(refused.errors.hasPrefix("atriumctl: "), "\(refused)")
                }
                try await daemon.start()
                let same = try await Self.status(daemon)
                #expect(same["store"] == before["store"])
                #expect(same["sequence"] == before["sequence"])
                try await daemon.stop()
                let replaced = try await daemon.type(
                    "atriumctl restore - --replace --state-directory state <copy && "
                        + "ls state/before-*/atrium.sqlite")
                #expect(replaced.status == 0, "\(replaced)")
                #expect(replaced.output.contains(#/restored \d+ [KM]iB to state: /#), "\(replaced)")
                #expect(
                    replaced.output.contains(
                        "next: start the daemon: atriumd --state-directory 'state'"), "\(replaced)")
                let configured = try await daemon.type(
                    ": >own.yaml; atriumd --restore copy --replace --config own.yaml "
                        + "--state-directory state")
                #expect(
                    configured.lines.last
                        == "next: start the daemon: atriumd --config 'own.yaml' --state-directory 'state'",
                    "\(configured)")
                try await daemon.start()
                #expect(try await Self.status(daemon)["store"] != before["store"])
            }
        }

        @Test func `clients that do not read hold two files, and none once they are gone`()
            async throws
        {
            try await withDaemon { daemon in
                // More than waits on a connection.
                try await Self.fill(daemon, padding: 60_000)
                let hanging = try [daemon.peer(), daemon.peer()]
                for peer in hanging {
                    try await peer.send(Peer.frame("org.atrium.Store.Backup", more: true))
                }
                try await until { try Self.copies(of: daemon) == 2 }
                let third = try await daemon.type("atriumctl backup third")
                #expect(third.status == 1)
                #expect(third.errors.contains("there are 2 backups already"), "\(third)")
                #expect(try await Self.status(daemon)["state"]?.string == "ready")
                for peer in hanging { peer.hangUp() }
                try await until { try Self.copies(of: daemon) == 0 }
                let now = try await daemon.type("atriumctl backup third")
                #expect(now.status == 0, "\(now)")
                #expect(try Self.copies(of: daemon) == 0)
            }
        }

        /// How many copies of its store a daemon has open.
        private static func copies(of daemon: DaemonUnderTest) throws -> Int {
            let folder = "/proc/\(try #require(daemon.pid))/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(folder)/\(name)")
                return target?.contains("/state/atrium.backup-") == true
            }
        }

        @Test(.enabled(if: geteuid() == 0, "mounts a small file system, as root alone can"))
        func `where there is no room the error says how much is needed, and the daemon goes on`()
            async throws
        {
            let room = try TemporaryDirectory()
            var options = DaemonUnderTest.Options()
            options.arguments = ["--state-directory", room.path]
            options.prefix = [
                "unshare", "--mount", "sh", "-c",
                "mount -t tmpfs -o size=24m small \(room.path) && head -c 9M /dev/zero >\(room.path)/filler"
                    + " && exec \"$@\"", "sh",
            ]
            try await withFilms(options) { daemon in
                let backup = try await daemon.type("atriumctl backup copy")
                #expect(backup.status == 1)
                #expect(
                    backup.errors.contains("no room beside the store in \(room.path)"), "\(backup)")
                #expect(backup.errors.contains("MiB are needed"), "\(backup)")
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: daemon.home.path)
                        .filter { $0.contains("copy") } == [])
                let vote = try await daemon.type("atriumctl vote films/alien-1979 5")
                #expect(vote.status == 0, "\(vote)")
            }
        }
    }
}
