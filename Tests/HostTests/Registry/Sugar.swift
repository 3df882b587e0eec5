import AtriumKit
import Store
import Testing

@testable import Host

// Calls as tests write them.
extension TestRegistry {
    @discardableResult
    func apply(
        _ definitions: ContainerDefinition..., dryRun: Bool = false, prune: Bool = false
    ) async throws -> ApplyOutcome {
        try await call {
            $0.structure.apply(definitions, dryRun: dryRun, prune: prune, by: .ann, $1)
        }
    }

    @discardableResult
    func put(_ items: Item..., in container: String = "films") async throws -> PutResult {
        try await put(items, in: container)
    }

    @discardableResult
    func put(_ items: [Item], in container: String = "films") async throws -> PutResult {
        try await call {
            $0.put(container, component: nil, items.map { ItemDraft(item: $0) }, by: .ann, $1)
        }
    }

    @discardableResult
    func remove(
        _ items: String..., purge: Bool = false, in container: String = "films"
    ) async throws -> RemoveResult {
        try await call { $0.remove(container, component: nil, items, purge: purge, by: .ann, $1) }
    }

    /// Has as many people vote for the container in one turn of the loop.
    func castAll(_ count: Int) async throws -> [Result<VoteResult, HostError>] {
        try await callAll(count) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films"), value: 4,
                by: Caller(actor: "unix:\(index)"), reply)
        }
    }

    @discardableResult
    func cast(
        _ value: Double, on item: String? = nil, by caller: Caller = .ann
    ) async throws -> VoteResult {
        try await call {
            $0.cast(SubjectAddress(container: "films", item: item), value: value, by: caller, $1)
        }
    }

    func tally(of item: String? = nil, actor: String? = nil) async throws -> TallyResult {
        let address = SubjectAddress(container: "films", item: item)
        if actor == nil, let tally = await on({ $0.tally(address) }) { return try tally.get() }
        return try await call { $0.tally(address, actor: actor, $1) }
    }

    @discardableResult
    func post(
        _ text: String, on item: String? = nil, under parent: String? = nil, id: String? = nil,
        by caller: Caller = .ann
    ) async throws -> CommentResult {
        try await call {
            $0.post(
                SubjectAddress(container: "films", item: item), parent: parent, text: text,
                id: id, by: caller, $1)
        }
    }

    @discardableResult
    func edit(
        _ comment: String, text: String, by caller: Caller = .ann
    ) async throws -> CommentResult {
        try await call {
            $0.edit("films", component: nil, comment: comment, text: text, by: caller, $1)
        }
    }

    @discardableResult
    func delete(_ comment: String) async throws -> CommentResult {
        try await call { $0.delete("films", component: nil, comment: comment, by: .ann, $1) }
    }

    func thread(of item: String? = nil) async throws -> ThreadResult {
        try await call {
            $0.thread("films", component: nil, ThreadQuery(subject: Subject(item: item)), $1)
        }
    }

    func list(
        _ container: String = "films", _ selection: Selection = Selection(), search: String? = nil,
        sort: [String] = [], facets: Bool = false, actor: String? = nil, limit: Int = 50
    ) async throws -> ListPage {
        try await call {
            $0.list(
                container,
                ListRequest(
                    selection: selection, search: search, sort: sort,
                    facets: facets, actor: actor, limit: limit), $1)
        }
    }

    func status(of container: String = "films") async throws -> ContainerStatus {
        try await call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.describe(container, hasDetails: true).status
                })
        }
    }

    /// How many ballots of the films the store has.
    func ballotRecords() throws -> Int {
        var count = 0
        try store.forEachRecord(container: "films", component: "stars") { _, _, _ in count += 1 }
        return count
    }

    /// The topics of all notifications that are kept, with their sequences.
    func topics() throws -> [String] {
        try store.notifications(after: 0, limit: 10_000).notifications.map(\.topic)
    }
}

extension Caller {
    static let ann = Caller(actor: "unix:1000")
    static let bob = Caller(actor: "unix:1001")
    static let moderator = Caller(actor: "unix:1", isModerator: true)
}

extension ContainerDefinition {
    /// A film club: filters, list, stars, talk.
    static var films: ContainerDefinition {
        ContainerDefinition(
            name: "films", title: "Film club",
            fields: [
                Field(name: "title", type: .text, required: true, search: true),
                Field(name: "genres", type: .keywords),
                Field(name: "rating", type: .number, min: 0, max: 10),
            ],
            components: [
                ComponentDefinition(
                    name: "filters", plugin: "org.atrium.facets",
                    settings: [
                        "sections": [
                            ["id": "genre", "field": "genres", "input": "several"],
                            [
                                "id": "rating", "field": "rating", "input": "several",
                                "filters": [["id": "8+", "title": "8 and up", "from": 8]],
                            ],
                        ]
                    ]),
                ComponentDefinition(name: "list", plugin: "org.atrium.catalog"),
                ComponentDefinition(name: "stars", plugin: "org.atrium.stars"),
                ComponentDefinition(name: "talk", plugin: "org.atrium.threads"),
            ], source: "films")
    }

    /// The same with something changed.
    func changed(_ change: (inout ContainerDefinition) -> Void) -> ContainerDefinition {
        var definition = self
        change(&definition)
        definition.source = "changed"
        return definition
    }
}

extension Item {
    static func film(
        _ id: String, _ genres: [String] = ["drama"], rating: Double = 7
    ) -> Item {
        Item(
            id: id,
            fields: [
                "title": .text("The \(id)"), "genres": .list(genres.map(Value.text)),
                "rating": .number(rating),
            ])
    }
}

/// Expects a call to fail with this error.
func expect<T>(
    _ error: HostError, sourceLocation: SourceLocation = #_sourceLocation,
    from call: () async throws -> T
) async {
    await #expect(sourceLocation: sourceLocation) {
        _ = try await call()
    } throws: {
        $0 as? HostError == error
    }
}

/// Expects a call to fail because the store takes no writes.
func expectUnavailable<T>(
    sourceLocation: SourceLocation = #_sourceLocation, from call: () async throws -> T
) async {
    await #expect(sourceLocation: sourceLocation) {
        _ = try await call()
    } throws: {
        if case .storeUnavailable = $0 as? HostError { true } else { false }
    }
}
