import AtriumKit
import TestSupport
import Testing

@testable import Host

/// Whose turn it is at a source, how much of its answers is kept, and where it is asked for.
@Suite(.timeLimit(.minutes(3))) struct AskedShareTests {
    @Test func `a user has half of a source's places while others wait`() async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true))
        let searches = (1...40).map { "ann\($0)" } + ["bob"]
        async let pages = oracle.host.callAll(searches.count) { registry, index, reply in
            let request = ListRequest(
                search: searches[index], user: String(searches[index].prefix(3)))
            registry.list("films", request, reply)
        }
        try await until { oracle.asked.count == 32 }
        let asked = oracle.asked
        #expect(asked[..<16].allSatisfy { $0.contains("'ann") })
        #expect(asked[16].contains("'bob'"), "\(asked)")
        #expect(asked[17...].allSatisfy { $0.contains("'ann") }, "the others' places are free")
        for search in searches[..<31] + ["bob"] { try await oracle.reply(["a"], to: search) }
        try await until { oracle.asked.count == searches.count }
        for search in searches[31..<40] { try await oracle.reply(["a"], to: search) }
        #expect(try await pages.allSatisfy { try $0.get().items.count == 1 })
        try await oracle.host.end()
    }

    @Test func `of many bytes less items are kept, and none that a screen shows leaves`()
        async throws
    {
        // An item has about 30 bytes.
        let oracle = try await OracleHost.start(Oracle.films()) { $0.askedBytes = 320 }
        let client = try await oracle.open(limit: 4)
        try await client.catchUp { client.ids().count == 4 }
        let other = try await oracle.open(limit: 4)
        for text in ["efgh", "ijkl", "mnop", "qrst"] {
            try await oracle.search(text, on: other)
            try await other.catchUp { other.ids().joined() == text }
        }
        try await until {
            await oracle.host.on { ($0.containers["films"]?.itemCount ?? 0) <= 11 }
        }
        let there = await oracle.host.on { registry in
            "abcdqrst".allSatisfy { registry.containers["films"]?.has(String($0)) ?? false }
        }
        #expect(there)
        try await oracle.host.end()
    }

    @Test func `a page is asked for where a screen would stand, also in another list`()
        async throws
    {
        let definition = Oracle.films().changed {
            $0.components.insert(
                ComponentDefinition(name: "firms", plugin: "org.atrium.catalog"), at: 0)
            $0.lists = ListModes(contents: ["firms"], entered: ["list"])
        }
        let oracle = try await OracleHost.start(definition)
        let items = [Item.film("acme"), Item.film("sales")].map { item in
            var item = item
            item.parent = item.id == "sales" ? "acme" : nil
            return ItemDraft(item: item)
        }
        _ = try await oracle.host.call {
            $0.put("films", component: "firms", items, by: .ann, $1)
        }
        let page = try await oracle.host.call {
            $0.list("films", ListRequest(parent: "sales"), $1)
        }
        #expect(page.items.map(\.id) == ["sales1", "sales2"])
        #expect(oracle.asked.last == #"asked '' ["acme", "sales"] [] [] 50 first"#)
        let client = try await oracle.open()
        let id = client.id
        for item in ["acme", "sales"] {
            _ = try await oracle.host.call { $0.enter(id, item: item, by: .ann, $1) }
        }
        try await client.catchUp { client.ids() == ["sales1", "sales2"] }
        #expect(oracle.asked.last == #"asked '' ["acme", "sales"] [] [] 50 first"#)
        try await oracle.host.end()
    }
}
