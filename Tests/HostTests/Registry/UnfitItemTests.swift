import AtriumKit
import Store
import TestSupport
import Testing

@testable import Host

/// Items that an earlier version took, and today's would refuse.
@Suite(.timeLimit(.minutes(3))) struct UnfitItemTests {
    private static let films = ContainerDefinition.films.changed {
        $0.fields.append(Field(name: "year", type: .integer))
        $0.fields.append(Field(name: "seen", type: .time))
    }

    private func write(_ id: String, _ fields: String, _ store: Store) async throws {
        store.append(
            Entry(
                container: "films", epoch: .max, time: 0,
                changes: [
                    RecordChange(
                        container: "films", component: "list", key: id,
                        value: Array("{\"fields\":{\"title\":\"Old\",\(fields)}}".utf8))
                ]),
            ticket: 0)
        try await callback { done in store.enqueueRead { _ in done() } }
    }

    @Test(
        arguments: [
            (#""year":9007199254740993"#, "year"), (#""seen":"9999-12-31T23:59:59-01:00""#, "seen"),
            (#""seen":"2026-01-31T10:00:00.0001Z""#, "seen"),
        ], [false, true])
    func `an item whose value is not exact is shown, and named until it is mended`(
        _ old: (fields: String, name: String), isReadEach: Bool
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(Self.films)
        try await host.put(Item(id: "alien", fields: ["title": "Alien", "year": 1979]))
        // One whose id says its accent otherwise has the component look at each.
        if isReadEach { try await write("e\u{301}", #""year":1"#, host.store) }
        try await write("old", old.fields, host.store)
        #expect(try await host.status().state == .ready)
        let after = try await host.restarted()
        let status = try await after.status()
        #expect(status.state == .degraded)
        #expect(status.reason?.contains("'old'") == true, "\(status.reason ?? "")")
        #expect(status.reason?.contains("'\(old.name)'") == true || isReadEach)
        let shown = try await after.list().items.first { $0.id == "old" }
        let text = String(decoding: shown?.fields ?? [], as: UTF8.self)
        #expect(shown != nil)
        // A component that looks at each record shows what it made of the value.
        #expect(text.contains(old.fields) || isReadEach, "\(text)")
        try await after.put(Item(id: "old", fields: ["title": "Old"]))
        let mended = try await after.status()
        #expect(mended.reason?.contains("'old'") != true, "\(mended.reason ?? "")")
        #expect(mended.state == .ready || isReadEach)
        try await after.end()
    }

    @Test func `a whole number beyond 64 bits is not put back rounded`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(Self.films)
        let record = RecordView(
            component: "list", kind: "contents", key: "big",
            value: Array(#"{"fields":{"title":"Big","rating":123456789012345678901}}"#.utf8))
        await #expect {
            try await host.restore([record])
        } throws: { error in
            guard case .recordInvalid(_, let key, let reason) = error as? HostError else {
                return false
            }
            return key == "big" && reason.contains("64 bits")
                && reason.contains("123456789012345678901")
        }
        try await host.end()
    }
}
