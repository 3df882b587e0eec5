import AtriumKit
import Index
import PluginLoader
import Testing

@testable import Host

/// What a list shows after a restart: what its component says, whatever its records look like.
@Suite(.timeLimit(.minutes(3))) struct RestoreTests {
    /// More than one slice of records.
    private static let films = (0..<300).map { Item.film("f\($0)") }

    @Test func `items that are their records are there again, as they were`() async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(Self.films)
        try await host.remove("f7")
        let last = try await host.put(.film("f9", rating: 1)).sequence
        let before = try await host.list(sort: ["title"])
        host = try await host.restarted()
        #expect(try await host.list(sort: ["title"]) == before)
        #expect(before.total == 299)
        #expect(await host.revision(of: "f9") == last)
        #expect(await host.revision(of: "f299") == 2)
        try await host.end()
    }

    @Test func `a source that makes something else of its records has its items listed`()
        async throws
    {
        let before = try await TestRegistry.start()
        try await before.apply(.films)
        try await before.put(Self.films)
        try await before.stop()
        let others = [Plugin].builtIn.filter { $0.id != "org.atrium.catalog" }
        let host = try await TestRegistry.start(
            in: before.directory,
            plugins: others + [.inProcess("org.atrium.catalog", .contents, EvenList.self)])
        let page = try await host.list(limit: 200)
        #expect(page.total == 150)
        #expect(
            page.items.allSatisfy { String(decoding: $0.fields, as: UTF8.self).contains("Even") })
        #expect(await host.revision(of: "f298") == 2)
        #expect(await host.revision(of: "f299") == nil)
        try await host.end()
    }
}

extension TestRegistry {
    /// The sequence of the entry that changed an item last; nil: there is none with this id.
    fileprivate func revision(of id: String) async -> Int64? {
        await on { $0.containers["films"]?.slot("list")?.list?.revision(of: id) }
    }
}

/// Lists every other record, under a title of its own.
private final class EvenList: ContentListing {
    static var settings: [Setting] { [] }
    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    var readOnlyReason: String? { "It is made of others." }

    init(context: ComponentContext) {}

    func apply(_ change: Change) {
        guard case .put(let key, let value) = change, var item = Item(key: key, value: value),
            Int(key.dropFirst()).map({ $0.isMultiple(of: 2) }) == true
        else { return }
        item.fields["title"] = .text("Even \(key)")
        items.append(item)
    }

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
