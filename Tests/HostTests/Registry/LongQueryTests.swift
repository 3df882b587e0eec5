import AtriumKit
import LogMessages
import NIOCore
import Synchronization
import Testing

@testable import Host
@testable import Index

/// Queries that look at more than fits into one turn of the loop.
struct LongQueryTests {
    /// A filter for a text in a title, a thousand times; one of them finds something.
    private static let selection = Selection([
        "title": (0..<999).map { "text \($0)" } + ["number 77 "]
    ])
    /// As many as are counted.
    private static let counted = Selection([
        "title": (0..<99).map { "text \($0)" } + ["number 77 "]
    ])

    @Test func `others are served while a query with a thousand texts is prepared`() async throws {
        let host = try await big()
        let before = await host.on { $0.domainSteps }
        let order = Mutex<[String]>([])
        let pages = try await host.callAll(3) { (registry, index, reply: @escaping Reply<Int>) in
            switch index {
            case 0:
                registry.list("films", ListRequest(selection: Self.selection)) {
                    order.withLock { $0.append("list") }
                    reply($0.map(\.total))
                }
            case 1:
                registry.filters(
                    "films", component: nil, selection: Self.counted, search: nil
                ) {
                    order.withLock { $0.append("filters") }
                    reply($0.map(\.total))
                }
            default:
                registry.put(
                    "films", component: nil, [ItemDraft(item: .film("late"))], by: .ann
                ) {
                    order.withLock { $0.append("put") }
                    reply($0.map { _ in 0 })
                }
            }
        }
        #expect(try pages.map { try $0.get() } == [1, 1, 0])
        #expect(order.withLock { $0 }.first == "put")
        #expect(await host.on { $0.domainSteps } - before > 5_500)
        try await host.end()
    }

    @Test func `so many texts are listed by, and not counted`() async throws {
        let host = try await big()
        #expect(try await host.list("films", Self.selection).total == 1)
        let error = HostError.limitExceeded(limit: "countedFilters", value: 100, retryAfter: nil)
        await expect(error) { try await host.list("films", Self.selection, facets: true) }
        await expect(error) {
            try await host.call {
                $0.filters("films", component: nil, selection: Self.selection, search: nil, $1)
            }
        }
        await expect(error) {
            _ = try await ScreenClient(
                host, ScreenRequest(container: "films", selection: Self.selection))
        }
        try await host.end()
    }

    @Test func `a screen with a hundred texts is prepared, and follows`() async throws {
        let host = try await big()
        let before = await host.on { $0.domainSteps }
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", selection: Self.counted))
        try await client.catchUp()
        #expect(client.ids() == ["film-77"])
        #expect(await host.on { $0.domainSteps } - before > 500)
        try await host.put(film("more", title: "number 77 again"))
        try await client.catchUp()
        #expect(client.ids() == ["film-77", "more"])
        // So many changes at once that the index is asked anew.
        let opened = await host.on { $0.domainSteps }
        try await host.put((0..<900).map { film("small-\($0)", title: "number 77 of \($0)") })
        while client.ids().count < 50 {
            try await client.catchUp()
            _ = try await host.status()
        }
        #expect(client.copy.lists["list"]?.first?.id == "film-77")
        #expect(await host.on { $0.domainSteps } - opened >= 100, "what is known needs no scan")
        try await host.end()
    }

    @Test func `lists, counts and screens that look at much are answered in slices`() async throws {
        let host = try await big()
        let sort = ["rating", "-title"]
        let plain = try await host.call {
            $0.list("films", ListRequest(sort: sort, facets: true), $1)
        }
        let before = await host.on { $0.domainSteps }
        await host.on { $0.lookLess() }
        let page = try await host.call {
            $0.list("films", ListRequest(sort: sort, facets: true), $1)
        }
        #expect(page.items == plain.items && page.total == 500)
        let listed = await host.on { $0.domainSteps }
        #expect(listed - before >= 8, "a word of rows in each")
        let client = try await ScreenClient(host, ScreenRequest(container: "films", sort: sort))
        try await client.catchUp()
        #expect(client.ids() == plain.items.map(\.id))
        #expect(await host.on { $0.domainSteps } - listed >= 8)
        try await host.put(film("more", title: "number 999"))
        try await client.catchUp()
        #expect(client.ids().first == "more")
        // More leave than it knows others behind.
        let all = try await host.call {
            $0.list("films", ListRequest(sort: sort, limit: 200), $1)
        }
        let gone = all.items.prefix(150).map(\.id)
        _ = try await host.call {
            $0.remove("films", component: nil, gone, purge: false, by: .ann, $1)
        }
        let left = all.items.dropFirst(150).map(\.id)
        while client.ids() != left {
            try await client.catchUp()
            _ = try await host.status()
        }
        try await host.end()
    }

    @Test func `the next slice waits until the loop has looked at its sockets`() async throws {
        let host = try await TestRegistry.start()
        let steps = Mutex(0)
        await host.on { registry in
            // Somebody counts the turns, and this one goes on.
            registry.domain.turns.clear()
            registry.domain.slices.run {
                let end = NIODeadline.now() + .milliseconds(5)
                while NIODeadline.now() < end {}
                return steps.withLock {
                    $0 += 1
                    return $0 < 3
                }
            } then: {
            }
        }
        for _ in 0..<200 { await host.on { _ in } }
        #expect(steps.withLock { $0 } == 1)
        await host.on { registry in
            let turns = registry.domain.turns
            registry.domain.loop.scheduleRepeatedTask(
                initialDelay: .zero, delay: .milliseconds(1)
            ) { _ in turns.clear() }
        }
        while steps.withLock({ $0 }) < 3 { await host.on { _ in } }
        try await host.end()
    }

    // MARK: Whose turn it is

    @Test func `a user's long queries delay another's by one of them`() async throws {
        let host = try await big()
        let order = Mutex<[Int]>([])
        _ = try await host.callAll(21) { (registry, index, reply: @escaping Reply<Int>) in
            let answered: Reply<Int> = {
                order.withLock { $0.append(index) }
                reply($0)
            }
            let user = (index == 20 ? Caller.bob : .ann).actor
            guard index % 2 == 0 else {
                return registry.filters(
                    "films", component: nil, selection: Self.counted, search: nil, by: user
                ) { answered($0.map(\.total)) }
            }
            let request = ListRequest(selection: Self.counted, user: user)
            registry.list("films", request) { answered($0.map(\.total)) }
        }
        let answers = order.withLock { $0 }
        #expect(answers.filter { $0 < 20 } == Array(0..<20), "each user's in their order")
        #expect(answers.prefix(3).contains(20), "\(answers)")
        try await host.end()
    }

    @Test func `a user's long screens delay another's by one of them`() async throws {
        let host = try await big()
        let order = Mutex<[Int]>([])
        _ = try await host.callAll(13) { (registry, index, reply: @escaping Reply<Int>) in
            let selected = Self.texts + ["own \(index)"]
            let request = ScreenRequest(
                container: "films", selection: Selection(["title": selected]))
            registry.openScreen(request, by: index < 11 ? .ann : .bob, wake: {}) { opened in
                order.withLock { $0.append(index) }
                reply(opened.map { _ in index })
            }
        }
        let answers = order.withLock { $0 }
        #expect(answers.filter { $0 < 11 } == Array(0..<11))
        // A slow machine may let one or two more of the first user's through: not eleven.
        #expect(answers.prefix(7).contains(11) && answers.prefix(7).contains(12), "\(answers)")
        try await host.end()
    }

    @Test func `a screen that others wait for is found at the first one's turn`() async throws {
        let host = try await big()
        let order = Mutex<[Int]>([])
        _ = try await host.callAll(12) { (registry, index, reply: @escaping Reply<Int>) in
            // Nothing is found before all are asked, however fast the machine is.
            if index == 0 { registry.domain.slices.rest() }
            // What the last of the first user's shows, the second user asks for, too.
            let selected = Self.texts + ["own \(min(index, 10))"]
            let request = ScreenRequest(
                container: "films", selection: Selection(["title": selected]))
            registry.openScreen(request, by: index < 11 ? .ann : .bob, wake: {}) { opened in
                order.withLock { $0.append(index) }
                reply(opened.map { _ in index })
            }
        }
        let answers = order.withLock { $0 }
        #expect(answers.prefix(4).contains(10) && answers.prefix(4).contains(11), "\(answers)")
        try await host.end()
    }

    @Test(arguments: [0, 1, 2])
    func `people for whom a front end calls take turns with each other`(
        kind: Int
    ) async throws {
        let host = try await big()
        let order = Mutex<[Int]>([])
        _ = try await host.callAll(13) { (registry, index, reply: @escaping Reply<Int>) in
            if index == 0 { registry.domain.slices.rest() }
            let answered: Reply<Int> = {
                order.withLock { $0.append(index) }
                reply($0)
            }
            let front = Caller(actor: "unix:33")
            let actor = index < 11 ? "web:ann" : "web:bob"
            let selection = Selection(["title": Self.texts + ["own \(index)"]])
            switch kind {
            case 0:
                let request = ListRequest(
                    selection: selection, actor: actor, user: front.actor)
                registry.list("films", request) { answered($0.map(\.total)) }
            case 1:
                registry.with("films", answered) {
                    $0.filters.list(
                        nil, in: nil, selection, search: nil, by: front.actor, for: actor
                    ) { answered($0.map(\.total)) }
                }
            default:
                let request = ScreenRequest(
                    container: "films", selection: selection, actor: actor, agent: actor)
                registry.openScreen(request, by: front, wake: {}) { opened in
                    answered(opened.map { _ in index })
                }
            }
        }
        let answers = order.withLock { $0 }
        #expect(answers.filter { $0 < 11 } == Array(0..<11), "each one's in their order")
        // A slow machine may let one or two more of the first one's through: not eleven.
        #expect(answers.prefix(7).contains(11) && answers.prefix(7).contains(12), "\(answers)")
        try await host.end()
    }

    @Test func `of one user's long queries so many wait`() async throws {
        var limits = HostLimits()
        limits.waitingQueries = 5
        let host = try await big(limits)
        let answers = try await host.callAll(9) { (registry, index, reply: @escaping Reply<Int>) in
            // Nothing is found before all are asked, however fast the machine is.
            if index == 0 { registry.domain.slices.rest() }
            let user = (index == 8 ? Caller.bob : .ann).actor
            let request = ListRequest(selection: Self.counted, user: user)
            registry.list("films", request) { reply($0.map(\.total)) }
        }
        let refused = HostError.limitExceeded(limit: "waitingQueries", value: 5, retryAfter: 1)
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .success(let total): #expect(total == 1 && (index < 6 || index == 8))
            case .failure(let error): #expect(error == refused && (6...7).contains(index))
            }
        }
        #expect(try await host.list("films", Self.counted).total == 1, "there is room again")
        try await host.end()
    }

    @Test func `of one user's pages of a large section so many wait, too`() async throws {
        var limits = HostLimits()
        limits.waitingQueries = 5
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put((0..<400).map { .film("f\($0)", ["g\($0)"]) })
        let answers = try await host.callAll(9) {
            (registry, index, reply: @escaping Reply<FiltersPage>) in
            if index == 0 { registry.domain.slices.rest() }
            registry.filters(
                "films", component: nil, selection: Selection(), search: nil,
                page: SectionPage(section: "genre", text: "g39"),
                by: (index == 8 ? Caller.bob : .ann).actor, reply)
        }
        let refused = HostError.limitExceeded(limit: "waitingQueries", value: 5, retryAfter: 1)
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .success(let page): #expect(page.sections[0].filters.count == 11)
            case .failure(let error): #expect(error == refused && index < 8, "\(index)")
            }
        }
        #expect(answers.count { (try? $0.get()) == nil } == 2)
        try await host.end()
    }

    // MARK: Who waits for them

    @Test func `queries that nobody waits for any more are dropped at their turn`() async throws {
        let host = try await big()
        let dropped = Mutex(0)
        let answers = try await host.callAll(2) { (registry, index, reply: @escaping Reply<Int>) in
            // Nothing is found before all are asked, however fast the machine is.
            if index == 0 { registry.domain.slices.rest() }
            let request = ListRequest(selection: Self.counted, user: Caller.ann.actor)
            let answered: Reply<ListPage> = { _ in dropped.withLock { $0 += 1 } }
            for _ in 0..<(index * 20) {
                registry.with("films", answered) {
                    $0.contents.list(request, while: { false }, answered)
                }
            }
            registry.list("films", request) { reply($0.map(\.total)) }
        }
        #expect(try answers.map { try $0.get() } == [1, 1])
        #expect(dropped.withLock { $0 } == 0)
        try await host.end()
    }

    @Test(arguments: [true, false])
    func `a query that nobody waits for any more ends between its steps`(
        isList: Bool
    ) async throws {
        let host = try await big()
        let before = await host.on { $0.domainSteps }
        let asked = Mutex(0)
        let isAwaited: @Sendable () -> Bool = {
            asked.withLock {
                $0 += 1
                return $0 < 4
            }
        }
        await expect(LongQueries.abandoned) {
            try await host.call { (registry, reply: @escaping Reply<Int>) in
                registry.with("films", reply) { films in
                    if isList {
                        films.contents.list(
                            ListRequest(selection: Self.counted), while: isAwaited
                        ) { reply($0.map(\.total)) }
                    } else {
                        films.filters.list(
                            nil, in: nil, Self.counted, search: nil, by: "", while: isAwaited
                        ) { reply($0.map(\.total)) }
                    }
                }
            }
        }
        #expect(await host.on { $0.domainSteps } - before < 100)
        #expect(try await host.list("films", Self.counted).total == 1, "the next has its turn")
        try await host.end()
    }

    private static let texts = (0..<99).map { "text \($0)" }

    /// A club of films whose titles take five runs.
    private func big(_ limits: HostLimits = HostLimits()) async throws -> TestRegistry {
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(
            .films.changed {
                $0.components[0].settings = [
                    "sections": [["id": "title", "field": "title", "input": "text"]]
                ]
            })
        let padding = String(repeating: "abcdefgh", count: 1_250)
        for start in stride(from: 0, to: 500, by: 100) {
            try await host.put(
                (start..<start + 100).map { film("film-\($0)", title: "number \($0) \(padding)") })
        }
        return host
    }

    private func film(_ id: String, title: String) -> Item {
        Item(id: id, fields: ["title": .text(title), "rating": 7])
    }
}

extension Registry {
    /// What was done in slices so far.
    fileprivate var domainSteps: Int { domain.slices.steps }

    /// Lets queries look at very little in one turn.
    fileprivate func lookLess() {
        for list in containers.values.flatMap(\.slots).compactMap(\.list) {
            (list.looksInTurn, list.wordsInStep) = (10, 1)
        }
    }
}
