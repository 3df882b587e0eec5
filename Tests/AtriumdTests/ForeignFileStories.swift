import Foundation
import Glibc
import TestSupport
import Testing

extension Stories {
    /// Named pipes and the like where the daemon has files of its own, or an administrator's.
    @Suite struct ForeignFiles {
        private static func makePipe(_ path: String) throws {
            unlink(path)
            try #require(mkfifo(path, 0o600) == 0)
        }

        /// Opening one would wait for a writer that never comes.
        @Test(arguments: [
            "atrium.lock", "atrium.reserve", "atrium.sqlite", "atrium.sqlite-wal",
            "atrium.sqlite-shm", "atrium.sqlite-journal",
        ])
        func `a named pipe in place of a file of the store ends a start, and is named`(
            name: String
        ) async throws {
            try await withFilms { daemon in
                try await daemon.stop()
                let path = daemon.home.path + "/state/" + name
                let kept = path + ".kept"
                let isThere = rename(path, kept) == 0
                try Self.makePipe(path)
                try await daemon.begin()
                #expect(try await daemon.ended() == 73)
                #expect(
                    daemon.log.contains(
                        "\(path) is a named pipe, where a file of the store belongs: move it away"),
                    "\(daemon.log)")
                unlink(path)
                if isThere { try #require(rename(kept, path) == 0) }
                try await daemon.start()
                let list = try await daemon.type("atriumctl list films -o ids")
                #expect(list.output.contains("alien-1979"), "\(list)")
            }
        }

        /// SQLite would keep its log beside the file that the link leads to, where no check looks for it.
        @Test(.timeLimit(.minutes(1)))
        func `a store that is a link to another file is not started, and is named`()
            async throws
        {
            try await withFilms { daemon in
                try await daemon.stop()
                let path = daemon.home.path + "/state/atrium.sqlite"
                let moved = try await daemon.type(
                    "mv state/atrium.sqlite far && ln -s ../far \(path)")
                #expect(moved.status == 0, "\(moved)")
                try await daemon.begin()
                #expect(try await daemon.ended() == 73)
                #expect(
                    daemon.log.contains(
                        "\(path) is a symbolic link, where a file of the store belongs"),
                    "\(daemon.log)")
                _ = try await daemon.type("mv far \(path)")
                try await daemon.start()
                let list = try await daemon.type("atriumctl list films -o ids")
                #expect(list.output.contains("alien-1979"), "\(list)")
            }
        }

        private static let notes = ["atrium.isolated", "atrium.making", "atrium.crashed"]

        @Test(arguments: notes)
        func `one in place of a note does not keep the daemon from starting, and is named`(
            name: String
        ) async throws {
            try await withFilms { daemon in
                try await daemon.stop()
                let path = daemon.home.path + "/state/" + name
                try Self.makePipe(path)
                try await startWithout(path, daemon, because: "it is no regular file: remove it")
            }
        }

        /// Notes are emptied at each start: what a link leads to must not be.
        @Test(arguments: notes)
        func `a link in place of a note is named, and the file that it leads to stays as it is`(
            name: String
        ) async throws {
            try await withFilms { daemon in
                try await daemon.stop()
                let path = daemon.home.path + "/state/" + name
                let precious = daemon.home.path + "/precious"
                try "precious".write(toFile: precious, atomically: true, encoding: .utf8)
                unlink(path)
                try #require(symlink(precious, path) == 0)
                try await startWithout(path, daemon, because: "it is a symbolic link: remove it")
                try await daemon.stop()
                #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
            }
        }

        /// Starts a daemon that can't use one of its notes: it says why, and works.
        private func startWithout(
            _ note: String, _ daemon: DaemonUnderTest, because reason: String
        ) async throws {
            try await daemon.start()
            #expect(daemon.log.contains("reason=\"\(reason)\""), "\(daemon.log)")
            #expect(daemon.log.contains("path=\(note)"), "\(daemon.log)")
            #expect(try await daemon.type("atriumctl put films/x title=X").status == 0)
        }

        @Test func `one in place of the settings or of a definition is refused, and is named`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration = ["containers.d/b.yaml": "atrium: 1\ncontainer: b\n"]
            try await withDaemon(options) { daemon in
                let etc = daemon.home.path + "/etc/"
                let reason = "it is no regular file: put one in its place"
                try Self.makePipe(etc + "containers.d/a.yaml")
                let reloaded = try await daemon.type("atriumctl reload")
                #expect(reloaded.status == 1)
                #expect(
                    reloaded.errors.contains("containers.d/a.yaml: \(reason)"), "\(reloaded)")
                unlink(etc + "containers.d/a.yaml")
                try Self.makePipe(etc + "atrium.yaml")
                let wrong = try await daemon.type("atriumctl reload")
                #expect(wrong.status == 1 && wrong.errors.contains("atrium.yaml: \(reason)"))
                try await daemon.stop()
                try await daemon.begin()
                #expect(try await daemon.ended() == 78)
                unlink(etc + "atrium.yaml")
                try await daemon.start()
            }
        }
    }
}
