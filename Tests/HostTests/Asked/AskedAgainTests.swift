import AtriumKit
import TestSupport
import Testing

@testable import Host

/// Sources that answer at once, and lists that are asked for again and again.
@Suite(.timeLimit(.minutes(3))) struct AskedAgainTests {
    @Test func `a source that answers while it is asked has answered`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(page: 2))
        let client = try await oracle.open(limit: 5)
        try await client.catchUp {
            client.ids() == ["a", "b", "c", "d", "e"] && client.copy.states.isEmpty
        }
        let id = client.id
        _ = try await oracle.host.call { $0.resize(id, component: nil, to: 7, by: .ann, $1) }
        try await client.catchUp { client.ids().count == 7 && client.copy.states.isEmpty }
        try await oracle.host.end()
    }

    @Test func `a source that refuses while it is asked is asked again`() async throws {
        let oracle = try await OracleHost.start(Oracle.films()) { $0.askPause = .milliseconds(5) }
        let client = try await oracle.open()
        try await oracle.search("fails", on: client)
        try await client.catchUp {
            client.copy.states == ["list": .stale(problem: "The source is shut.")]
        }
        try await until { oracle.asked.count { $0.contains("'fails'") } >= 3 }
        try await oracle.search("b", on: client)
        try await client.catchUp { client.ids() == ["b"] && client.copy.states.isEmpty }
        try await oracle.host.end()
    }

    @Test func `questions that failed at one time are asked again at several`() {
        let questions = (0..<50).map { ContentQuestion(search: "t\($0)") }
        for (failures, longest) in [(1, 5.0), (2, 10), (3, 20), (7, 300), (90, 300)] {
            let pauses = questions.map {
                AskedPause.after(failures, at: $0, first: .seconds(5)) / .seconds(1)
            }
            #expect(pauses.allSatisfy { $0 > longest / 2 && $0 <= longest }, "\(pauses)")
            #expect(Set(pauses).count > 40)
            // Spread over the whole half.
            #expect((pauses.max() ?? 0) - (pauses.min() ?? 0) > longest / 4)
        }
        let same = ContentQuestion(search: "same")
        #expect(
            AskedPause.after(1, at: same, first: .seconds(5))
                == AskedPause.after(1, at: same, first: .seconds(5)))
    }

    @Test func `what is under way is shown, however often all becomes another meanwhile`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open()
        for _ in 1...3 { try await oracle.tell("letters") }
        #expect(oracle.asked.count == 1)
        try await oracle.reply(["a"])
        try await client.catchUp { client.ids() == ["a"] }
        try await until { oracle.asked.count == 2 }
        try await oracle.reply(["b"])
        try await client.catchUp { client.ids() == ["b"] && client.copy.states.isEmpty }
        #expect(oracle.asked.count == 2, "once for all three")
        try await oracle.host.end()
    }

    @Test func `what nobody waits for any more keeps nothing else from being asked`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open()
        for number in 0..<40 {
            try await oracle.search("t\(number)", on: client)
            try await until { oracle.asked.contains { $0.contains("'t\(number)'") } }
        }
        try await oracle.reply(["a"], to: "t39")
        try await client.catchUp { client.ids() == ["a"] && client.copy.states.isEmpty }
        try await oracle.host.end()
    }

    @Test func `an item that is removed while pages are collected is not shown`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open(limit: 4)
        try await oracle.tell("reply", ["search": "", "ids": ["a", "b"], "next": "2"])
        try await until { oracle.asked.count == 2 }
        try await oracle.tell("remove", ["ids": ["a"]])
        try await oracle.reply(["c"])
        try await client.catchUp { client.ids() == ["b", "c"] }
        try await oracle.host.end()
    }

    @Test func `fields of details stay out of lists that a source is asked for`() async throws {
        let films = Oracle.films(holds: true).changed {
            var plot = Field(name: "plot", type: .text)
            plot.details = true
            $0.fields.append(plot)
        }
        let oracle = try await OracleHost.start(films)
        async let page = oracle.host.list()
        try await until { oracle.asked.count == 1 }
        try await oracle.reply(["a*"])
        let fields = try await page.items.map { String(decoding: $0.fields, as: UTF8.self) }
        #expect(fields == [#"{"title":"a*"}"#])
        try await oracle.host.end()
    }
}
