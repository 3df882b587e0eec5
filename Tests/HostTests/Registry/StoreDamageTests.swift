import Foundation
import Store
import TestSupport
import Testing

@testable import Host

/// Damage of the whole store, of which nobody knows whose records it took.
@Suite(.timeLimit(.minutes(3))) struct StoreDamageTests {
    @Test func `every container is degraded until what was kept of a damaged log is removed`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let before = try await TestRegistry.start(in: directory)
        try await before.apply(.films)
        // As a start leaves it that has found the log damaged.
        let note = try directory.write(
            "atrium.sqlite.damaged-20260102T030405Z.txt", "12 transactions are lost\n")
        let host = try await before.restarted()
        let status = try await host.status()
        #expect(status.state == .degraded)
        #expect(status.reason?.contains("the store was damaged") == true)
        #expect(
            await host.on { $0.status() }.problems == [
                "The store was damaged: 12 transactions are lost"
            ])
        try FileManager.default.removeItem(atPath: note)
        #expect(try await host.status().state == .ready)
        #expect(await host.on { $0.status() }.problems.isEmpty)
        try await host.end()
    }
}
