import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Lists whose items a source is asked for.
@Suite(.timeLimit(.minutes(3))) struct AskedSourceTests {
    @Test func `a choice is replied to at once, and its list shows that the source is asked`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open()
        try await client.catchUp()
        #expect(client.copy.states == ["list": .asking])
        #expect(client.ids() == [])
        try await oracle.reply(["b", "a"])
        try await client.catchUp { client.copy.states.isEmpty }
        #expect(client.ids() == ["b", "a"], "in the order of the answer")
        #expect(client.copy.totals["list"] == 2)
        try await oracle.host.end()
    }

    @Test func `a thousand screens that want the same ask once`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let readers = try await oracle.host.callAll(1_000) { registry, _, reply in
            registry.openScreen(
                ScreenRequest(container: "films"), by: .ann, wake: {}, reply)
        }
        let client = try await oracle.open()
        try await oracle.reply(["a", "b"])
        try await client.catchUp { client.ids() == ["a", "b"] }
        #expect(oracle.asked == ["asked '' [] [] [] 50 first"])
        let last = try #require(readers.last).get()
        let told = try await oracle.host.on { $0.screens.pull(last) }.get()
        #expect(told?.step.lists.first?.edits.count == 2)
        try await oracle.host.end()
    }

    @Test func `who types is asked for once, for what was typed last`() async throws {
        let oracle = try await OracleHost.start(Oracle.films()) {
            $0.typingPause = .milliseconds(100)
        }
        let client = try await oracle.open()
        for text in ["a", "ab", "abc"] { try await oracle.search(text, on: client) }
        try await client.catchUp { client.ids() == ["a", "b", "c"] }
        #expect(oracle.asked.count == 2, "\(oracle.asked)")
        #expect(oracle.asked.last == "asked 'abc' [] [] [] 50 first")
        // Another choice does not wait.
        let id = client.id
        _ = try await oracle.host.call { $0.sort(id, by: ["-title"], by: .ann, $1) }
        try await client.catchUp { client.ids() == ["c", "b", "a"] }
        #expect(oracle.asked.last == "asked 'abc' [] [] [\"-title\"] 50 first")
        try await oracle.host.end()
    }

    @Test func `what nobody shows any more is not answered, and the newest wins`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open()
        try await oracle.reply(["a"])
        for text in ["first", "second"] {
            try await oracle.search(text, on: client)
            try await until { oracle.asked.contains { $0.contains("'\(text)'") } }
        }
        try await oracle.reply(["b"], to: "second")
        try await client.catchUp { client.ids() == ["b"] }
        try await oracle.reply(["c"], to: "first")
        try await client.catchUp()
        #expect(client.ids() == ["b"])
        #expect(await oracle.host.on { $0.containers["films"]?.has("c") } == false)
        try await oracle.host.end()
    }

    @Test func `what was answered stays while the source fails, and is asked for again`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films(holds: true)) {
            $0.askPause = .milliseconds(20)
        }
        let client = try await oracle.open()
        try await oracle.reply(["a"])
        try await client.catchUp { client.ids() == ["a"] }
        await oracle.host.on { try? $0.containers["films"]?.contents.reload(nil) }
        try await client.catchUp { client.copy.states == ["list": .asking] }
        #expect(client.ids() == ["a"])
        try await oracle.refuse("The source is shut.")
        try await client.catchUp {
            client.copy.states == ["list": .stale(problem: "The source is shut.")]
        }
        #expect(client.ids() == ["a"])
        // By itself, after a pause.
        try await until { oracle.asked.count == 3 }
        #expect(client.copy.states == ["list": .stale(problem: "The source is shut.")])
        try await oracle.reply(["a", "b"])
        try await client.catchUp { client.ids() == ["a", "b"] }
        #expect(client.copy.states.isEmpty)
        try await oracle.host.end()
    }

    @Test func `a source that does not answer in time is reported, and a late answer dropped`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films(holds: true)) {
            $0.answerTime = .milliseconds(30)
            $0.askPause = .seconds(600)
        }
        let client = try await oracle.open()
        let problem = "It has not answered for 0.03 seconds."
        try await client.catchUp { client.copy.states == ["list": .stale(problem: problem)] }
        try await oracle.reply(["late"])
        try await client.catchUp()
        #expect(client.ids() == [])
        #expect(await oracle.host.on { $0.containers["films"]?.has("late") } == false)
        await #expect {
            _ = try await oracle.host.list()
        } throws: { error in
            guard case .componentUnavailable("list", problem, 5) = error as? HostError else {
                return false
            }
            return true
        }
        try await oracle.host.end()
    }

    @Test func `a vote on an answered item is shown, and what the source answers of it`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open(limit: 2)
        try await client.catchUp { client.ids() == ["a", "b"] }
        try await oracle.host.cast(5, on: "b")
        try await client.catchUp()
        #expect(client.copy.lists["list"]?.last?.votes?.tally.count == 1)
        let id = client.id
        _ = try await oracle.host.call { $0.focus(id, item: "b", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.tally?.tally.count == 1)
        try await oracle.tell("change", ["ids": ["a"]])
        try await client.catchUp {
            client.copy.lists["list"]?.first.map { String(decoding: $0.fields, as: UTF8.self) }
                == #"{"title":"new a"}"#
        }
        try await oracle.tell("remove", ["ids": ["b"]])
        try await client.catchUp { client.ids() == ["a"] && client.copy.focus == "" }
        // Its votes are those of its id.
        try await oracle.search("b", on: client)
        try await client.catchUp { client.ids() == ["b"] }
        #expect(client.copy.lists["list"]?.first?.votes?.tally.count == 1)
        try await oracle.host.end()
    }

    @Test func `votes that are there before an item is answered are shown with it`() async throws {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open()
        try await client.catchUp { client.ids().count == 26 }
        try await oracle.host.cast(5, on: "c")
        try await oracle.host.stop()
        let next = try await OracleHost.start(Oracle.films(), in: oracle.host.directory)
        #expect(await next.host.on { $0.containers["films"]?.has("c") } == false)
        let again = try await next.open()
        try await again.catchUp { again.ids().count == 26 }
        #expect(again.copy.lists["list"]?[2].votes?.tally.count == 1)
        try await next.host.end()
    }

    @Test func `who goes into an item has what lies in it asked for`() async throws {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open(limit: 3)
        try await client.catchUp { client.ids() == ["a", "b", "c"] }
        let id = client.id
        _ = try await oracle.host.call { $0.enter(id, item: "b", by: .ann, $1) }
        try await client.catchUp { client.ids() == ["b1", "b2"] }
        _ = try await oracle.host.call { $0.enter(id, item: "b2", by: .ann, $1) }
        try await client.catchUp { client.ids() == ["b21", "b22"] }
        #expect(client.copy.path == ["b", "b2"])
        #expect(oracle.asked.last == #"asked '' ["b", "b2"] [] [] 3 first"#)
        _ = try await oracle.host.call { $0.back(id, by: .ann, $1) }
        try await client.catchUp { client.ids() == ["b1", "b2"] }
        try await oracle.host.end()
    }

    @Test func `filters are selected and counted, and the source is called`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(filters: true))
        let client = try await oracle.open(limit: 2)
        try await client.catchUp { client.ids() == ["a", "b"] }
        let id = client.id
        _ = try await oracle.host.call {
            $0.select(id, section: "rating", filter: "8+", by: .ann, $1)
        }
        try await until { oracle.asked.last == "asked '' [] [8+] [] 2 first" }
        try await client.catchUp { client.ids() == ["a", "b"] }
        await #expect(throws: HostError.self) {
            _ = try await oracle.host.call { $0.sort(id, by: ["nonsense"], by: .ann, $1) }
        }
        try await oracle.host.end()
    }
}
