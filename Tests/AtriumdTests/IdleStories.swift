import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What the processes do while nobody wants anything.
    @Suite struct Idling {
        @Test func `an idle daemon and its workers keep no timers but their event loops'`()
            async throws
        {
            try await withDaemon { daemon in
                let pid = try #require(daemon.pid)
                #expect(try Self.timers(of: pid) == 1, "from the start on")
                let used = try await daemon.type(
                    "sed 's/plugin: org.atrium.stars,/& isolation: process,/' $EXAMPLES/films.yaml "
                        + ">f.yaml && atriumctl apply -f f.yaml && "
                        + "atriumctl import films $EXAMPLES/films.ndjson && "
                        + "atriumctl vote films/alien-1979 5 && atriumctl reload")
                #expect(used.status == 0, "\(used)")
                daemon.signal(SIGHUP)
                let status = try await daemon.type("atriumctl status")
                #expect(status.status == 0, "\(status)")
                #expect(try Self.timers(of: pid) == 1, "once it was used")
                let found = try await run(["pgrep", "--parent", "\(pid)", "atrium-worker"])
                let worker = try #require(found.lines.first.flatMap { pid_t($0) })
                #expect(try Self.timers(of: worker) == 1)
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `lists that follow files wake nobody up while these stay as they are`(
            isolation: String
        ) async throws {
            try await withDaemon { daemon in
                let pid = try #require(daemon.pid)
                for shelf in ["books", "maps"] {
                    try Self.put("ISBN;title\n1;Odyssey\n", on: shelf, daemon)
                    try daemon.home.write(
                        "\(shelf).yaml", Self.definition(shelf, daemon, isolation))
                }
                let made = try await daemon.type(
                    "atriumctl apply -f books.yaml && atriumctl apply -f maps.yaml")
                #expect(made.status == 0, "\(made)")
                for shelf in ["books", "maps"] {
                    try await Self.shows(1, on: shelf, daemon)
                    try Self.put("ISBN;title\n1;Odyssey\n2;Emma\n", on: shelf, daemon)
                    try await Self.shows(2, on: shelf, daemon)
                }
                let found = try await run(["pgrep", "--parent", "\(pid)", "atrium-worker"])
                let workers = found.lines.compactMap { pid_t($0) }
                #expect(workers.count == (isolation == "daemon" ? 0 : 2))
                for process in isolation == "daemon" ? [pid] : workers {
                    let inotify = try Self.descriptors(of: process, "anon_inode:inotify")
                    #expect(inotify == 1, "one for all that is watched")
                }
                for process in [pid] + workers {
                    #expect(try Self.timers(of: process) <= 1)
                    try await Self.rests(process)
                }
            }
        }

        private static func definition(
            _ shelf: String, _ daemon: DaemonUnderTest, _ isolation: String
        ) -> String {
            """
            atrium: 1
            container: \(shelf)
            fields: { title: { type: text } }
            components:
              - name: list
                plugin: org.atrium.file
                isolation: \(isolation)
                settings: { path: \(daemon.home.path)/\(shelf), file: all.csv, id: ISBN }
            """
        }

        /// Puts a file in place of the one before, as editors do.
        private static func put(
            _ text: String, on shelf: String, _ daemon: DaemonUnderTest
        ) throws {
            try daemon.home.write("\(shelf)/new.csv", text)
            let folder = daemon.home.path + "/" + shelf
            guard rename(folder + "/new.csv", folder + "/all.csv") == 0 else {
                throw SystemFailure(folder)
            }
        }

        private static func shows(
            _ count: Int, on shelf: String, _ daemon: DaemonUnderTest
        ) async throws {
            try await until {
                let list = try await daemon.type("atriumctl list \(shelf) --json")
                return try list.status == 0 && list.json["total"]?.int == count
            }
        }

        /// Waits for two seconds in which no thread of a process ran.
        ///
        /// Nothing can be waited for but time where nothing is to happen; a busy machine wakes no idle process up.
        private static func rests(_ process: pid_t) async throws {
            try await until {
                let before = try wakeups(of: process)
                try await Task.sleep(for: .seconds(2))
                return try wakeups(of: process) == before
            }
        }

        /// How often threads of a process stopped running so far, by thread.
        private static func wakeups(of process: pid_t) throws -> [String: [String]] {
            let folder = "/proc/\(process)/task"
            var switches: [String: [String]] = [:]
            for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let status = try String(
                    contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
                switches[thread] = status.split(separator: "\n").map(String.init)
                    .filter { $0.contains("ctxt_switches") }
            }
            return switches
        }

        /// How many timers of the kernel a process holds.
        ///
        /// An event loop has one; libdispatch has one more, that goes off every second, as soon as a
        /// task runs on Swift's own pool.
        private static func timers(of process: pid_t) throws -> Int {
            try descriptors(of: process, "anon_inode:[timerfd]")
        }

        /// How many of its open files are of a kind.
        private static func descriptors(of process: pid_t, _ kind: String) throws -> Int {
            let folder = "/proc/\(process)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(folder)/\(name)")
                return target == kind
            }
        }
    }
}
