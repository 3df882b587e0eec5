import AtriumKit
import TestSupport
import Testing

@testable import Host

/// How much of a source's answers is asked for, shown and kept.
@Suite(.timeLimit(.minutes(3))) struct AskedPageTests {
    @Test func `a screen that is resized asks for what is missing`() async throws {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open(limit: 2)
        try await client.catchUp { client.ids() == ["a", "b"] }
        #expect(client.copy.more == ["list"], "there are more, and nobody knows how many")
        let id = client.id
        _ = try await oracle.host.call { $0.resize(id, component: nil, to: 5, by: .ann, $1) }
        try await client.catchUp { client.ids() == ["a", "b", "c", "d", "e"] }
        #expect(oracle.asked.last == "asked '' [] [] [] 3 2")
        _ = try await oracle.host.call { $0.resize(id, component: nil, to: 1, by: .ann, $1) }
        try await client.catchUp { client.ids() == ["a"] }
        #expect(oracle.asked.count == 2, "\(oracle.asked)")
        try await oracle.host.end()
    }

    @Test func `a source with small pages is asked until the window is full`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(page: 2))
        let client = try await oracle.open(limit: 5)
        try await client.catchUp { client.ids() == ["a", "b", "c", "d", "e"] }
        #expect(oracle.asked.count == 3)
        try await oracle.host.end()
    }

    @Test func `what is on screens is asked for again when that is wanted, or all is another`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films())
        let client = try await oracle.open(limit: 3)
        try await client.catchUp { client.ids() == ["a", "b", "c"] }
        await oracle.host.on { try? $0.containers["films"]?.contents.reload("list") }
        try await until { oracle.asked.count == 2 }
        try await oracle.tell("letters", ["ids": ["x", "y"]])
        try await client.catchUp { client.ids() == ["x", "y"] }
        #expect(oracle.asked.count == 3)
        #expect(client.copy.more == [])
        try await oracle.host.end()
    }

    @Test func `items that were shown longest ago leave, and none that a screen shows`()
        async throws
    {
        let oracle = try await OracleHost.start(Oracle.films()) { $0.askedItems = 10 }
        let client = try await oracle.open(limit: 4)
        try await client.catchUp { client.ids().count == 4 }
        let other = try await oracle.open(limit: 4)
        try await oracle.search("z", on: other)
        try await other.catchUp { other.ids() == ["z"] }
        let id = other.id
        _ = try await oracle.host.call { $0.focus(id, item: "z", by: .ann, $1) }
        for text in ["efgh", "ijkl", "mnop", "qrst"] {
            try await oracle.search(text, on: other)
            try await other.catchUp { other.ids().joined() == text }
        }
        try await until {
            await oracle.host.on { ($0.containers["films"]?.itemCount ?? 0) <= 10 }
        }
        let there = await oracle.host.on { registry in
            "abcdzefqrst".filter { registry.containers["films"]?.has(String($0)) ?? false }
        }
        #expect(there == "abcdzqrst")
        try await client.catchUp()
        #expect(client.ids().count == 4)
        try await oracle.host.end()
    }

    @Test func `a call waits for the answer, page by page`() async throws {
        let oracle = try await OracleHost.start(Oracle.films())
        let first = try await oracle.host.list(search: "abc", limit: 2)
        #expect(first.items.map(\.id) == ["a", "b"])
        let cursor = try #require(first.next)
        let second = try await oracle.host.call {
            $0.list("films", ListRequest(search: "abc", limit: 2, cursor: cursor), $1)
        }
        #expect(second.items.map(\.id) == ["c"] && second.next == nil)
        try await oracle.host.cast(4, on: "c")
        let mine = try await oracle.host.list(search: "c", actor: Caller.ann.actor)
        #expect(mine.items.first?.votes?.mine == 4)
        await expect(.refused(reason: "The source is shut.", retryAfter: nil)) {
            try await oracle.host.list(search: "fails")
        }
        try await oracle.host.end()
    }

    @Test func `calls that ask the same at a time share the answer`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        async let pages = oracle.host.callAll(100) { registry, _, reply in
            registry.list("films", ListRequest(search: "a"), reply)
        }
        try await until { oracle.asked.count == 1 }
        try await oracle.reply(["a"], to: "a")
        let found = try await pages.map { try $0.get().items.map(\.id) }
        #expect(found == Array(repeating: ["a"], count: 100))
        #expect(oracle.asked.count == 1)
        try await oracle.host.end()
    }

    @Test func `what does not fit is left out, and plugin and item are named`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open()
        try await oracle.reply(["a", "b!"])
        try await client.catchUp { client.ids() == ["a"] }
        let line = oracle.log.lines.first { $0.contains("'b!'") }
        #expect(line?.contains("test.oracle") == true, "\(oracle.log.lines)")
        try await oracle.host.end()
    }

    @Test func `an answer that was not asked for is dropped, and says why`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let client = try await oracle.open(limit: 1)
        try await oracle.reply(["a", "b"])
        let reason = "The source answered with 2 items, where 1 were asked for."
        try await client.catchUp { client.copy.states == ["list": .stale(problem: reason)] }
        try await oracle.search("twice", on: client)
        try await until { oracle.asked.count == 2 }
        try await oracle.reply(["a", "a"], to: "twice")
        try await client.catchUp {
            if case .stale = client.copy.states["list"] { true } else { false }
        }
        try await oracle.host.end()
    }

    @Test func `a resumed screen stays in items that its source was not asked for yet`()
        async throws
    {
        let first = try await OracleHost.start(Oracle.films())
        let client = try await first.open()
        try await client.catchUp { client.ids().count == 26 }
        let id = client.id
        _ = try await first.host.call { $0.enter(id, item: "b", by: .ann, $1) }
        try await client.catchUp { client.ids() == ["b1", "b2"] }
        _ = try await first.host.call { $0.focus(id, item: "b2", by: .ann, $1) }
        let kept = await first.host.on { $0.keptScreens.all { _ in 1 } }
        try await first.host.stop()
        let next = try await OracleHost.start(Oracle.films(), in: first.host.directory)
        _ = try await next.host.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore(kept, digest: { _ in 1 }) { reply(.success($0)) }
        }
        try await until { next.asked.contains { $0.contains(#"["b"]"#) } }
        let stands = { () async -> Bool in
            await next.host.on {
                let choices = $0.state.screens[id]?.choices
                return choices?.view.path.map(\.item) == ["b"] && choices?.subject.item == "b2"
            }
        }
        #expect(await stands())
        try await next.tell("remove", ["ids": ["b2"]])
        try await until { await !stands() }
        // What it stands in was not asked for: it is not kept.
        #expect(await next.host.on { $0.containers["films"]?.has("b") } == false)
        try await next.tell("remove", ["ids": ["b"]])
        try await until {
            await next.host.on { $0.state.screens[id]?.choices.view.path.isEmpty ?? false }
        }
        try await next.host.end()
    }
}
