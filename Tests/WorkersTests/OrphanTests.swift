import Foundation
import Host
import PluginLoader
import TestSupport
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `A worker whose daemon is gone` {
    /// A program that starts workers and is killed: the check of a plugin that hangs in a worker.
    @Test func `ends with it, also when its plugin hangs and reads nothing`() async throws {
        let directory = try TemporaryDirectory()
        let plugin = try alias(of: Installed.breaker, in: directory)
        let daemon = [
            Installed.worker, "--check", plugin.path, "--id", plugin.id, "--settings",
            #"{"hangsInWorker": true}"#,
        ]
        try await withRunning(daemon) { daemon in
            try await eventually("a worker hangs") { try workers(of: plugin.path).count == 1 }
            let worker = try #require(try workers(of: plugin.path).first)
            try await eventually("its plugin is loaded") {
                maps(of: worker).contains("libBreaker.so")
            }
            kill(daemon.pid, SIGKILL)
            try await eventually("the worker is gone") {
                try workers(of: plugin.path).isEmpty
            }
        }
    }

    /// What a process has mapped.
    ///
    /// The kernel hands it out a page at a time, after which Foundation stops.
    private func maps(of process: pid_t) -> String {
        let file = open("/proc/\(process)/maps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &part, part.count), count > 0 {
            text += part.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
