import AtriumKit
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// An export leaves nothing out in silence; what is left of a damaged store can be had, and it is said what is missing.
@Suite(.timeLimit(.minutes(2))) struct DamagedExportTests {
    /// A film club in whose file something was changed behind its back.
    private func damaged(by sql: String) async throws -> TestRegistry {
        let host = try await TestRegistry.filled().restarted()
        // Damage does not ask which rows refer to which.
        try OtherProgram(at: host.store.file).execute("PRAGMA foreign_keys = OFF; \(sql)")
        return try await host.restarted()
    }

    private func export(
        _ host: TestRegistry, skipsDamaged: Bool
    ) async throws -> (records: [RecordView], lost: [String]) {
        let id: ExportID = try await host.call {
            $0.export("films", skipsDamaged: skipsDamaged, $1)
        }
        let part: ExportPart = try await host.call { $0.exports.pull(id, $1) }
        #expect(part.isLast)
        return (part.records, part.lost)
    }

    private func expectFailure(of host: TestRegistry, about what: String) async {
        await #expect {
            _ = try await export(host, skipsDamaged: false)
        } throws: {
            guard case .storeUnavailable(let reason, nil) = $0 as? HostError else { return false }
            return reason.contains(what)
        }
    }

    @Test(arguments: [
        "UPDATE actors SET name = x'78' WHERE CAST(name AS TEXT) = '\(Caller.bob.actor)'",
        "DELETE FROM actors WHERE CAST(name AS TEXT) = '\(Caller.bob.actor)'",
    ])
    func `where a person's name is damaged or gone, no vote and comment is left out in silence`(
        sql: String
    ) async throws {
        let whole = try await TestRegistry.filled()
        let before = try await export(whole, skipsDamaged: false).records
        try await whole.end()
        let host = try await damaged(by: sql)
        await expectFailure(of: host, about: "the owner of record 'heat' of ")
        let left = try await export(host, skipsDamaged: true)
        let others = before.filter { $0.actor != Caller.bob.actor }
        #expect(left.records.map(\.key) == others.map(\.key))
        #expect(left.records.map(\.actor) == others.map(\.actor))
        #expect(left.lost.count == before.count - others.count)
        #expect(left.lost.count == 2)
        try await host.end()
    }

    @Test(arguments: [
        ("UPDATE components SET name = 'lisT' WHERE name = 'list'", "components"),
        ("DELETE FROM components WHERE name = 'stars'", "components"),
        ("UPDATE components SET container = 99 WHERE name = 'talk'", "components"),
        ("UPDATE containers SET name = 'film' WHERE name = 'films'", "containers"),
        ("DELETE FROM containers WHERE name = 'films'", "containers"),
        (
            """
            INSERT INTO purges SELECT 1, id, x'', x'', x'', 9999, 0 FROM components
            WHERE name = 'list'
            """, "purges"
        ),
        ("DELETE FROM meta WHERE name = 'components'", "components"),
    ])
    func `where it is unknown which records there are, nothing is left out in silence`(
        sql: String, table: String
    ) async throws {
        let host = try await damaged(by: sql)
        await expectFailure(of: host, about: "the table \(table) ")
        let left = try await export(host, skipsDamaged: true)
        #expect(left.lost.contains { $0.contains("the table \(table) ") }, "\(left.lost)")
        try await host.end()
    }

    @Test(arguments: [false, true])
    func `a record that is damaged while an export goes on is named, or fails it`(
        skipsDamaged: Bool
    ) async throws {
        let host = try await TestRegistry.filled()
        _ = try host.store.recordRows()
        let id: ExportID = try await host.call {
            $0.export("films", skipsDamaged: skipsDamaged, $1)
        }
        try OtherProgram(at: host.store.file).execute(
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'b'")
        // What changed since is looked up again.
        try await host.cast(1, on: "alien")
        if skipsDamaged {
            let part: ExportPart = try await host.call { $0.exports.pull(id, $1) }
            #expect(part.lost == ["the record 'b' of talk can't be read"])
            #expect(!part.records.contains { $0.key == "b" } && part.records.count == 6)
        } else {
            await #expect {
                _ = try await host.call { $0.exports.pull(id, $1) }
            } throws: {
                guard case .storeUnavailable(let reason, nil) = $0 as? HostError else {
                    return false
                }
                return reason.contains("the record 'b' of talk")
            }
        }
        try await host.end()
    }

    @Test func `an erased person's records hinder no export`() async throws {
        var host = try await TestRegistry.filled()
        let _: ErasureResult = try await host.call { $0.erasures.erase(Caller.bob.actor, $1) }
        for _ in 0..<2 {
            let left = try await export(host, skipsDamaged: false)
            #expect(!left.records.contains { $0.actor == Caller.bob.actor })
            #expect(left.lost.isEmpty)
            host = try await host.restarted()
        }
        try await host.end()
    }

    @Test func `what can be read of a damaged store is put into a new one, which is whole`()
        async throws
    {
        let host = try await damaged(
            by: """
                UPDATE records SET sum = sum + 1
                WHERE CAST(key AS TEXT) IN ('alien', 'b') AND sequence > 0
                """)
        await expectFailure(of: host, about: "the record 'alien' of ")
        let left = try await export(host, skipsDamaged: true)
        #expect(left.lost.filter { $0.hasPrefix("the record ") }.count == 2)
        #expect(left.lost.contains { $0.hasPrefix("the record 'alien' of ") })
        #expect(left.lost.contains { $0.contains("are not those that were written") })
        let status = try await host.status()
        #expect(status.components.filter(\.isDamaged).count == 2)
        try await host.end()

        let new = try await TestRegistry.start()
        try await new.apply(.films)
        let result: RestoreResult = try await new.restore(left.records)
        #expect(result.restored == left.records.count)
        // In another order: people have other numbers there.
        #expect(Set(try await export(new, skipsDamaged: false).records) == Set(left.records))
        #expect(try await new.status().state == .ready)
        try await new.end()
    }
}
