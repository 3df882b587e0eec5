import AtriumKit
import Index
import JSONCodec
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Filters for the present day, over a day's end.
@Suite(.timeLimit(.minutes(1))) struct PresentDateTests {
    /// A clock that stands still until it is set.
    private final class Clock: Sendable {
        private let milliseconds: Atomic<Int64>

        init(_ text: String) {
            milliseconds = Atomic(Timestamp(text)?.milliseconds ?? 0)
        }

        func set(_ text: String) {
            milliseconds.store(Timestamp(text)?.milliseconds ?? 0, ordering: .relaxed)
        }

        var now: @Sendable () -> Timestamp {
            { Timestamp(milliseconds: self.milliseconds.load(ordering: .relaxed)) }
        }
    }

    private static let agenda = ContainerDefinition.films.changed { definition in
        var day = Field(name: "day", type: .date)
        day.derivation = Field.Derivation(of: "start", by: .day, zone: "Europe/Rome")
        definition.fields += [Field(name: "start", type: .time), day]
        definition.components[0].settings = [
            "sections": [["id": "day", "field": "day", "selected": "today"]]
        ]
    }

    private func item(_ id: String, _ start: String) -> Item {
        var item = Item.film(id)
        item.fields["start"] = .text(start)
        return item
    }

    @Test(arguments: [1, BatchCheck.few * 3 + 1])
    func `local times are read in their zone, in a batch of any size`(_ count: Int) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(
            .films.changed {
                var start = Field(name: "start", type: .time)
                start.zone = "Europe/Rome"
                $0.fields.append(start)
            })
        try await host.put((0..<count).map { item("f\($0)", "2026-03-28T20:15") })
        let starts = await host.on { registry in
            (0..<count).map { registry.containers["films"]?.start(of: "f\($0)") }
        }
        #expect(starts == Array(repeating: "2026-03-28T20:15:00+01:00", count: count))
        await #expect(throws: HostError.self) {
            try await host.put((0..<count).map { item("g\($0)", "2026-02-30T20:15") })
        }
        #expect(await host.on { $0.containers["films"]?.itemCount } == count)
        try await host.end()
    }

    @Test func `at midnight of the zone a screen shows what is on then, and its choice stays`()
        async throws
    {
        // Ten milliseconds before midnight in Rome.
        let clock = Clock("2026-03-28T22:59:59.990Z")
        let host = try await TestRegistry.start(clock: clock.now)
        try await host.apply(Self.agenda)
        try await host.put([
            item("first", "2026-03-28T08:00:00Z"), item("second", "2026-03-28T23:30:00Z"),
            item("third", "2026-03-29T22:30:00Z"),
        ])
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.ids() == ["first"])
        let section = try #require(client.copy.sections?.first)
        #expect(section.filters.first?.id == "today")
        #expect(section.filters.first?.selected == true)
        #expect(section.filters.first?.count == 1)
        // Each is again ten milliseconds before the next midnight; the first day has 23 hours.
        for (time, ids) in [
            ("2026-03-29T21:59:59.990Z", ["second"]), ("2026-03-30T21:59:59.990Z", ["third"]),
            ("2026-03-31T12:00:00Z", []),
        ] {
            clock.set(time)
            try await client.catchUp(until: { client.ids() == ids })
            let today = client.copy.sections?.first?.filters.first
            #expect(today?.id == "today" && today?.selected == true && today?.count == ids.count)
        }
        try await host.end()
    }

    @Test
    func `a calendar has the seven days of the week, empty ones too, and the next week's then`()
        async throws
    {
        // A Sunday, ten milliseconds before midnight in Rome, where the clocks were set forward.
        let clock = Clock("2026-03-29T21:59:59.990Z")
        let host = try await TestRegistry.start(clock: clock.now)
        try await host.apply(
            Self.agenda.changed {
                $0.components[0].settings = [
                    "sections": [
                        [
                            "id": "day", "field": "day", "input": "single", "days": "this-week",
                            "selected": "today",
                        ]
                    ]
                ]
            })
        try await host.put([
            item("friday", "2026-03-27T08:00:00Z"), item("sunday", "2026-03-29T08:00:00Z"),
            item("monday", "2026-03-30T08:00:00Z"), item("later", "2026-04-30T08:00:00Z"),
        ])
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.ids() == ["sunday"])
        var filters = try #require(client.copy.sections?.first?.filters)
        #expect(filters.map(\.id) == ["today"] + (23...29).map { "2026-03-\($0)" })
        #expect(filters.map(\.count) == [1, 0, 0, 0, 0, 1, 0, 1])
        #expect(filters.map(\.selected) == [true] + Array(repeating: false, count: 7))
        clock.set("2026-03-30T10:00:00Z")
        try await client.catchUp(until: { client.ids() == ["monday"] })
        filters = try #require(client.copy.sections?.first?.filters)
        #expect(filters[1].id == "2026-03-30" && filters[7].id == "2026-04-05")
        #expect(filters.map(\.count) == [1, 1, 0, 0, 0, 0, 0, 0])
        let id = client.id
        // Any day may be chosen; one of another week stands behind these.
        for (day, ids, count) in [("2026-03-31", [], 8), ("2026-03-27", ["friday"], 9)] {
            _ = try await host.call {
                $0.select(id, section: "day", filter: day, by: .ann, $1)
            }
            try await client.catchUp(until: { client.ids() == ids })
            let shown = client.copy.sections?.first?.filters ?? []
            #expect(shown.count == count)
            #expect(shown.filter(\.selected).map(\.id) == [day])
        }
        try await host.end()
    }

    @Test func `who opens a screen with filters of their own has these alone`() async throws {
        let clock = Clock("2026-03-29T12:00:00Z")
        let host = try await TestRegistry.start(clock: clock.now)
        try await host.apply(Self.agenda)
        try await host.put([
            item("today", "2026-03-29T08:00:00Z"), item("past", "2026-03-01T23:30:00Z"),
        ])
        for (selection, ids) in [
            (nil, ["today"]), (Selection(), ["past", "today"]),
            (Selection(["day": ["2026-03-02"]]), ["past"]),
        ] as [(Selection?, [String])] {
            let client = try await ScreenClient(
                host, ScreenRequest(container: "films", selection: selection))
            try await client.catchUp()
            #expect(client.ids() == ids)
        }
        #expect(try await host.list().items.map(\.id) == ["past", "today"])
        try await host.end()
    }
}

extension Container {
    /// When an item begins, as it is kept.
    fileprivate func start(of item: String) -> String? {
        let fields = first(.contents)?.list?.item(item)?.fields ?? []
        return (try? JSON.decode([String: Value].self, from: fields))?["start"]?.text
    }
}
