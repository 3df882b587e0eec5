import AtriumKit
import CommentThreads
import PluginLoader
import Store
import Synchronization
import Testing
import Threads

@testable import Host

/// Comments on what is purged: a few are named in the entry, many are not, and a component is not
/// believed which they are.
@Suite(.timeLimit(.minutes(2))) struct CommentPurgeTests {
    /// Two films, one of which has so many comments, the other two.
    private func films(
        comments: Int, plugins: [Plugin] = .builtIn,
        _ definition: ContainerDefinition = .films
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(plugins: plugins)
        try await host.apply(definition)
        try await host.put(.film("heat"), .film("ronin"))
        let heat = SubjectAddress(container: "films", item: "heat")
        let posted = try await host.callAll(comments) { registry, index, reply in
            registry.post(
                heat, parent: nil, text: "Good.", id: "c\(index)",
                by: Caller(actor: "unix:\(10_000 + index)"), reply)
        }
        for result in posted { _ = try result.get() }
        for id in ["r0", "r1"] { try await host.post("Better.", on: "ronin", id: id) }
        return host
    }

    /// Purges one of them, and gives what its entry names.
    private func purge(
        _ host: TestRegistry
    ) async throws -> (keys: Set<String>, purges: [Purge]) {
        try await host.written { try await host.remove("heat", purge: true) }
    }

    private func totals(_ host: TestRegistry) async throws -> [Int] {
        [try await host.thread(of: "heat").total, try await host.thread(of: "ronin").total]
    }

    @Test func `an item with thousands of comments goes with an entry that names the item`()
        async throws
    {
        var host = try await films(comments: 1_700)
        let entry = try await purge(host)
        #expect(entry.keys == ["heat"])
        #expect(entry.purges == [Purge(container: "films", component: "talk", item: "heat")])
        try await host.put(.film("heat"))
        #expect(try await totals(host) == [0, 2])
        // An id of before is free.
        try await host.post("Once more.", on: "heat", id: "c7")
        #expect(try await totals(host) == [1, 2])
        host = try await host.restarted()
        #expect(try await totals(host) == [1, 2])
        host.store.waitForDeletion()
        // Two items, three comments, the container's definition.
        #expect(try host.store.recordRows() == 6)
        try await host.end()
    }

    @Test func `many comments that nobody sees go as those do that all see`() async throws {
        var definition = ContainerDefinition.films
        definition.components[3].settings = ["moderated": true]
        var host = try await films(comments: 1_200, definition)
        let entry = try await purge(host)
        #expect(entry.keys == ["heat"])
        #expect(entry.purges.map(\.item) == ["heat"])
        try await host.put(.film("heat"))
        // The id would be another's.
        try await host.post("Other.", on: "heat", id: "c7")
        host = try await host.restarted()
        host.store.waitForDeletion()
        #expect(try host.store.recordRows() == 6)
        try await host.end()
    }

    @Test func `the comments on one item are asked for in pages`() async throws {
        let plugin = Plugin.inProcess("test.paged", .comments, PagedThreads.self)
        var definition = ContainerDefinition.films
        definition.components[3].plugin = "test.paged"
        // Moderated: what waits is in no count, and its search is bounded, too.
        for isModerated in [false, true] {
            definition.components[3].settings = ["moderated": .bool(isModerated)]
            let host = try await films(
                comments: 1_700, plugins: .builtIn + [plugin], definition)
            PagedThreads.pages.withLock { $0 = [] }
            _ = try await purge(host)
            try await host.put(.film("heat"))
            try await host.post("Once more.", on: "heat", id: "c7")
            let pages = PagedThreads.pages.withLock { $0 }
            #expect(pages.contains(SubjectErasure.slice), "\(pages)")
            #expect(pages.allSatisfy { $0 <= CommentSearch.named + 1 }, "\(pages)")
            #expect(pages.reduce(0, +) >= 1_700)
            if !isModerated { #expect(try await totals(host) == [1, 2]) }
            try await host.end()
        }
    }

    @Test func `a few comments are named, and nothing is searched for`() async throws {
        let host = try await films(comments: 3)
        let entry = try await purge(host)
        #expect(entry.keys == ["heat", "c0", "c1", "c2"])
        #expect(entry.purges == [])
        try await host.put(.film("heat"))
        #expect(try await totals(host) == [0, 2])
        try await host.end()
    }

    @Test func `a component that names another item's comment has nothing purged`() async throws {
        let plugin = Plugin.inProcess("test.greedy", .comments, GreedyThreads.self)
        var definition = ContainerDefinition.films
        definition.components[3].plugin = "test.greedy"
        let host = try await films(comments: 3, plugins: .builtIn + [plugin], definition)
        await #expect {
            try await host.remove("heat", purge: true)
        } throws: {
            guard case .componentUnavailable("talk", let reason, _) = $0 as? HostError else {
                return false
            }
            return reason.contains("test.greedy") && reason.contains("'r1'")
        }
        #expect(try await totals(host) == [3, 2])
        // Its gate is open again.
        try await host.post("Still here.", on: "heat")
        try await host.end()
    }
}

/// Threads that note how many keys they name at a time.
private final class PagedThreads: BorrowedThreads {
    static let pages = Mutex<[Int]>([])

    override func recordKeys(about subject: Subject) -> [String] {
        Issue.record("They were asked for all keys.")
        return super.recordKeys(about: subject)
    }
    override func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        let keys = super.recordKeys(about: subject, after: after, limit: limit)
        Self.pages.withLock { $0.append(keys.count) }
        return keys
    }
}

/// Threads that name a comment on another item, too.
private final class GreedyThreads: BorrowedThreads {
    override func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        super.recordKeys(about: subject, after: after, limit: limit) + (after == nil ? ["r1"] : [])
    }
}

/// Threads of which a test changes something.
private class BorrowedThreads: Commenting {
    static var settings: [Setting] { Threads.settings }
    private let sound: Threads
    required init(context: ComponentContext) throws { sound = try Threads(context: context) }
    var delegate: (any CommentingDelegate)? {
        get { sound.delegate }
        set { sound.delegate = newValue }
    }
    var counts: [(subject: Subject, count: Int)] { Array(sound.counts) }
    func apply(_ change: Change) { sound.apply(change) }
    func post(_ draft: CommentDraft, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.post(draft, context)
    }
    func edit(_ id: String, text: String, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.edit(id, text: text, context)
    }
    func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.delete(id, context)
    }
    func moderate(
        _ id: String, state: AtriumKit.Comment.State, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try sound.moderate(id, state: state, context)
    }
    func entry(_ id: String) -> ThreadPage.Entry? { sound.entry(id) }
    func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage { try sound.thread(query) }
    func count(of subject: Subject) -> Int { sound.count(of: subject) }
    func recordKeys(about subject: Subject) -> [String] { sound.recordKeys(about: subject) }
    func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        sound.recordKeys(about: subject, after: after, limit: limit)
    }
}

/// What was said about an item is known while the components that keep it are there alone.
@Suite(.timeLimit(.minutes(2))) struct PurgeRefusalTests {
    private func films(_ script: RemoteLauncher.Script, _ component: Int) async throws
        -> TestRegistry
    {
        var limits = HostLimits()
        limits.restarts = 2
        let host = try await TestRegistry.start(
            limits: limits, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[component].isolation = .process })
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        try await host.post("Good.", on: "heat")
        return host
    }

    @Test(arguments: [2, 3])
    func `a purge is refused while what keeps votes or comments is restarted, or absent`(
        component: Int
    ) async throws {
        let script = RemoteLauncher.Script()
        let host = try await films(script, component)
        let name = component == 2 ? "stars" : "talk"
        script.lose(1)
        script.failStarts(10)
        let heat = SubjectAddress(container: "films", item: "heat")
        // The first one's worker is lost before it is answered.
        let results: [Result<Void, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            if index == 1 {
                registry.remove("films", component: nil, ["heat"], purge: true, by: .ann) {
                    reply($0.map { _ in })
                }
            } else if component == 2 {
                registry.cast(heat, value: 2, by: .bob) { reply($0.map { _ in }) }
            } else {
                registry.post(heat, parent: nil, text: "Bad.", id: nil, by: .bob) {
                    reply($0.map { _ in })
                }
            }
        }
        for result in results {
            #expect(result.failure?.absence?.component == name, "\(result)")
        }
        // By now nobody starts it any more.
        await #expect {
            try await host.remove("heat", purge: true)
        } throws: {
            guard let absence = ($0 as? HostError)?.absence else { return false }
            return absence.component == name && absence.details.contains("ended at once")
        }
        #expect(try await host.list().items.map(\.id) == ["heat"])
        try await host.apply(.films)
        #expect(try await host.tally(of: "heat").tally.tally.count == 1)
        #expect(try await host.thread(of: "heat").total == 1)
        #expect(try await host.remove("heat", purge: true).removed == 1)
        try await host.end()
    }

    @Test func `a component that does not say what was purged is started again without it`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await films(script, 2)
        let starts = script.starts
        script.refuseAnswers(1)
        #expect(try await host.remove("heat", purge: true).removed == 1)
        try await host.put(.film("heat"))
        try await host.cast(2, on: "heat", by: .bob)
        let tally = try await host.tally(of: "heat").tally.tally
        #expect(tally.count == 1)
        #expect(tally.score == 2)
        #expect(script.starts == starts + 1)
        try await host.end()
    }
}
