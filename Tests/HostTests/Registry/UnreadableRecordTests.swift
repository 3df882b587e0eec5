import AtriumKit
import JSONCodec
import Store
import TestSupport
import Testing

@testable import Host

/// Records that are damaged in the store.
@Suite(.timeLimit(.minutes(3))) struct UnreadableRecordTests {
    /// Writes what is no JSON under a key, as damage does.
    private func damage(
        _ key: String, of component: String, _ store: Store
    ) async throws {
        store.append(
            Entry(
                container: "films", epoch: .max, time: 0,
                changes: [
                    RecordChange(
                        container: "films", component: component, key: key,
                        value: Array(#"{"fields":{"title":"Ali"#.utf8))
                ]),
            ticket: 0)
        try await callback { done in store.enqueueRead { _ in done() } }
    }

    @Test(arguments: ["list", "stars", "talk"])
    func `a record that can't be read is reported with what to do, and the others are there`(
        _ component: String
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(
            Item(id: "alien", fields: ["title": "Alien"]),
            Item(id: "brazil", fields: ["title": "Brazil"]))
        try await host.cast(4, on: "alien", by: .bob)
        try await host.post("Good", on: "alien")
        #expect(try await host.status().state == .ready)
        try await damage("broken", of: component, host.store)
        let after = try await host.restarted()
        let status = try await after.status()
        #expect(status.state == .degraded)
        #expect(
            status.reason?.contains("\(component) has 1 record that can't be read ('broken')")
                == true)
        #expect(try await after.list().items.map(\.id) == ["alien", "brazil"])
        #expect(try await after.tally(of: "alien").tally.tally.count == 1)
        #expect(try await after.thread(of: "alien").comments.count == 1)
        try await after.end()
    }

    @Test func `an export fails in place of leaving a record out`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(Item(id: "alien", fields: ["title": "Alien"]))
        try await damage("broken", of: "list", host.store)
        await #expect {
            let id = try await host.call { $0.export("films", $1) }
            _ = try await host.call { $0.exports.pull(id, $1) }
        } throws: { error in
            guard case .storeUnavailable(let reason, _) = error as? HostError else { return false }
            return reason.contains("the record 'broken' of list")
        }
        try await host.end()
    }
}
