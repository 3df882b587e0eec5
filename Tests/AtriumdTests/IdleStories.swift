import Foundation
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

        /// How many timers of the kernel a process holds.
        ///
        /// An event loop has one; libdispatch has one more, that goes off every second, as soon as a
        /// task runs on Swift's own pool.
        private static func timers(of process: pid_t) throws -> Int {
            let folder = "/proc/\(process)/fd"
            return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "\(folder)/\(name)")
                return target == "anon_inode:[timerfd]"
            }
        }
    }
}
