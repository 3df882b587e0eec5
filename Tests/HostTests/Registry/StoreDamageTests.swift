import AtriumKit
import Foundation
import Store
import StoreFaults
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
            await host.on { $0.status(hasDetails: true) }.problems == [
                "The store was damaged: 12 transactions are lost"
            ])
        try FileManager.default.removeItem(atPath: note)
        #expect(try await host.status().state == .ready)
        #expect(await host.on { $0.status(hasDetails: true) }.problems.isEmpty)
        try await host.end()
    }

    @Test(arguments: [
        (
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'c 4000'",
            "1 record that can't be read ('c 4000')"
        ),
        ("DELETE FROM records WHERE CAST(key AS TEXT) = 'c 70'", "1 record is missing of 5000"),
    ])
    func `records of components that are not attached are compared after a start`(
        sql: String, said: String
    ) async throws {
        let log = CapturedLog()
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        let posted = try await host.callAll(5_000) { registry, index, reply in
            registry.post(
                SubjectAddress(container: "films"), parent: nil, text: "Good", id: "c \(index)",
                by: .ann, reply)
        }
        for result in posted { _ = try result.get() }
        _ = try await host.call { $0.detach("films", "talk", purge: false, by: .ann, $1) }
        try await host.stop()
        try OtherProgram(at: host.store.file).execute(sql)
        host = try await .start(in: host.directory, logger: log.logger)
        while await !host.on({ $0.startup.detached.isOver }) { await Task.yield() }
        let problems = await host.on { $0.status(hasDetails: true) }.problems
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasPrefix("The component films/talk, which is not attached, ") == true)
        #expect(problems.first?.contains(said) == true, "\(problems)")
        #expect(log.messages.filter { $0 == "a component's records can't be read" }.count == 1)
        // Attached, it says so itself.
        _ = try await host.call {
            $0.attach(
                "films", ComponentDefinition(name: "talk", plugin: "org.atrium.threads"), at: nil,
                by: .ann, $1)
        }
        #expect(
            await host.on { $0.status(hasDetails: true) }.problems.allSatisfy {
                $0.hasPrefix("The component films/talk has") || $0.contains("lost some")
            })
        try await host.end()
    }

    @Test(arguments: [Int64.max, 1_000_000_000_000_000, -1, .min])
    func `a stored number of items that is damaged takes no memory, and all of them are there`(
        records: Int64
    ) async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(
            Item(id: "alien", fields: ["title": "Alien"]),
            Item(id: "brazil", fields: ["title": "Brazil"]))
        try await host.stop()
        try OtherProgram(at: host.store.file).execute(
            "UPDATE components SET records = \(records) WHERE name = 'list'")
        host = try await .start(in: host.directory)
        #expect(try await host.list().items.map(\.id) == ["alien", "brazil"])
        let status = try await host.status()
        #expect(status.state == .degraded)
        #expect(status.reason?.contains("the store was damaged") == true, "\(status)")
        try await host.cast(4, on: "alien", by: .bob)
        try await host.end()
    }

    @Test
    func `a database that is removed while it is open is in the status, and nothing is taken`()
        async throws
    {
        let log = CapturedLog()
        let host = try await TestRegistry.start(storeLogger: log.logger)
        try await host.apply(.films)
        try await host.put(Item(id: "alien", fields: ["title": "Alien"]))
        try FileManager.default.removeItem(atPath: host.store.file)
        let problems = await host.on { $0.status(hasDetails: true) }.problems
        #expect(problems.count == 1)
        #expect(
            problems.first?.contains("\(host.store.file) was removed or replaced") == true,
            "\(problems)")
        await #expect {
            try await host.cast(4, on: "alien", by: .bob)
        } throws: { error in
            if case .storeUnavailable(_, retryAfter: nil)? = error as? HostError { return true }
            return false
        }
        #expect(try await host.list().items.map(\.id) == ["alien"])
        #expect(
            log.messages == ["a file of the store was removed or replaced: changes are refused"])
        try await host.end()
    }
}
