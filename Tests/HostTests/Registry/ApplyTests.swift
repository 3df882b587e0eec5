import AtriumKit
import Index
import PluginLoader
import Store
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct ApplyTests {
    @Test func `a changed field is checked against the items that are there`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let films = (0..<15).map { Item.film("f\($0)", rating: Double($0) / 2) }
        try await host.put(films)
        let before = host.store.lastSequence
        let strict = ContainerDefinition.films.changed { $0.fields[2].max = 1 }
        await #expect {
            try await host.apply(strict)
        } throws: { error in
            guard case .itemsUnfit("films", "rating", let reason, let items) = error as? HostError
            else { return false }
            return reason.contains("at most 1") && items.count == 10
        }
        await #expect(throws: HostError.self) { try await host.apply(strict, dryRun: true) }
        #expect(host.store.lastSequence == before)
        #expect(try await host.put(.film("good", rating: 9)).inserted == 1)
        // One that fits is reindexed.
        let keyword = ContainerDefinition.films.changed {
            $0.fields.removeLast()
            $0.fields.append(Field(name: "rating", type: .number, min: 0, max: 20))
            $0.fields.append(Field(name: "year", type: .integer))
        }
        let outcome = try await host.apply(keyword)
        #expect(
            outcome.results[0].changes == ["field rating: changed", "field year: added (integer)"])
        #expect(try await host.list(sort: ["-rating"], limit: 1).items[0].id == "good")
        #expect(try await host.put(.film("f1", rating: 15)).updated == 1)
        try await host.end()
    }

    @Test func `items that wait for a change of the fields are judged by the new ones`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let strict = ContainerDefinition.films.changed { $0.fields[2].max = 1 }
        let fields: [String: Value] = ["fields": ["title": "A film", "rating": 9]]
        let bad = RecordView(
            component: "list", kind: "contents", key: "restored", value: fields.jsonBytes)
        let results = try await host.callAll(42) { registry, index, reply in
            switch index {
            case 0:
                registry.structure.apply([strict], dryRun: false, prune: false, by: .ann) {
                    reply($0.map { _ in true })
                }
            case 41:
                registry.restore("films", [bad], by: .ann) { reply($0.map { _ in true }) }
            default:
                let item = ItemDraft(item: .film("f\(index)", rating: index % 2 == 0 ? 1 : 7))
                registry.put("films", component: nil, [item], by: .ann) {
                    reply($0.map { _ in true })
                }
            }
        }
        for (index, result) in results.enumerated() {
            switch result {
            case .success: #expect(index % 2 == 0, "\(index)")
            case .failure(.fieldInvalid(_, let field, let expected, _)):
                #expect(index % 2 == 1 && field == "rating" && expected == "at most 1", "\(index)")
            case .failure(.recordInvalid(_, "restored", let reason)):
                #expect(index == 41 && reason.contains("at most 1"))
            case .failure(let error): Issue.record(error)
            }
        }
        #expect(try await host.list().total == 20)
        try await host.end()
    }

    @Test func `a dry run says what it would do, and does nothing of it`() async throws {
        let host = try await TestRegistry.start()
        let new = try await host.apply(.films, dryRun: true)
        #expect(new.results[0].action == .created)
        #expect(new.results[0].changes.count == 8)
        #expect(await host.on { $0.list(hasDetails: true) }.isEmpty)
        try await host.apply(.films)
        try await host.cast(4)
        let changed = ContainerDefinition.films.changed { $0.components.remove(at: 2) }
        let outcome = try await host.apply(changed, dryRun: true, prune: true)
        #expect(outcome.results[0].action == .changed)
        #expect(
            outcome.results[0].changes == [
                "component stars: detached", "component stars: its records erased",
            ])
        #expect(try await host.tally().tally.tally.count == 1)
        #expect(host.store.lastSequence == 2)
        try await host.end()
    }

    @Test(arguments: [true, false])
    func `a setting that makes the definition too long for the store is named`(
        dryRun: Bool
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let before = host.store.lastSequence
        // It is kept twice, as it is and as it was applied.
        let long = String(repeating: "t", count: 600_000)
        let changed = ContainerDefinition.films.changed {
            $0.components[0].settings["sections"] = [
                ["id": "genre", "field": "genres", "title": .text(long)]
            ]
        }
        await #expect {
            try await host.apply(changed, dryRun: dryRun)
        } throws: { error in
            guard case .settingInvalid("filters", "sections", let reason) = error as? HostError
            else { return false }
            return reason.hasPrefix("it has 600") && reason.contains("at most 1048576 bytes")
        }
        let titled = ContainerDefinition.films.changed { $0.title = long }
        await #expect {
            try await host.apply(titled, dryRun: dryRun)
        } throws: { error in
            guard case .definitionInvalid("films", let reason) = error as? HostError
            else { return false }
            return reason.contains("too long")
        }
        #expect(host.store.lastSequence == before)
        try await host.apply(.films.changed { $0.title = "Films" })
        try await host.end()
    }

    @Test func `of several definitions none is applied where one is wrong`() async throws {
        var limits = HostLimits()
        limits.containers = 3
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put(.film("f", rating: 9))
        let before = host.store.lastSequence
        func named(_ name: String) -> ContainerDefinition {
            .films.changed { $0.name = name }
        }
        let titled = ContainerDefinition.films.changed { $0.title = "Others" }
        let unknown = named("songs").changed { $0.components[0].plugin = "org.nowhere" }
        let strict = ContainerDefinition.films.changed { $0.fields[2].max = 1 }
        for wrong in [unknown, strict, named("daemon")] {
            await #expect(throws: HostError.self) {
                try await host.apply(titled, named("songs"), wrong)
            }
        }
        await expect(.limitExceeded(limit: "containers", value: 3, retryAfter: nil)) {
            try await host.apply(titled, named("a"), named("b"), named("c"))
        }
        #expect(host.store.lastSequence == before)
        #expect(await host.on { $0.list(hasDetails: true) }.map(\.definition.name) == ["films"])
        #expect(try await host.status().definition.title != "Others")
        let both = try await host.apply(titled, named("songs"))
        #expect(both.results.map(\.action) == [.changed, .created])
        #expect(try await host.put(.film("g")).inserted == 1)
        try await host.end()
    }

    @Test func `records go only when pruned, also those that an earlier change left`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        let without = ContainerDefinition.films.changed { $0.components.remove(at: 2) }
        try await host.apply(without)
        #expect(try host.ballotRecords() == 1)
        try await host.apply(.films)
        #expect(try await host.tally().tally.tally.count == 1)
        try await host.apply(without)
        #expect(try await host.apply(without, prune: true).results[0].changes.count == 1)
        #expect(try host.ballotRecords() == 0)
        try await host.apply(.films)
        #expect(try await host.tally().tally.tally.count == 0)
        try await host.end()
    }

    @Test func `what was done by hand stays when the file is applied again`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        _ = try await host.call {
            $0.attach(
                "films", ComponentDefinition(name: "more", plugin: "org.atrium.stars"), at: 0,
                by: .ann, $1)
        }
        _ = try await host.call { $0.detach("films", "talk", purge: false, by: .ann, $1) }
        let before = host.store.lastSequence
        #expect(try await host.apply(.films).sequence == before)
        try await host.apply(.films.changed { $0.title = "Club" })
        let status = try await host.status()
        #expect(
            status.components.map(\.definition.name) == ["more", "filters", "list", "stars"])
        #expect(status.definition.title == "Club")
        try await host.end()
    }

    @Test func `changed settings make the component anew, its records kept`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        try await host.apply(.films.changed { $0.components[2].settings = ["scale": 10] })
        let vote = try await host.cast(9, by: .bob)
        #expect(vote.tally.tally.histogram == ["4": 1, "9": 1])
        await #expect {
            try await host.apply(.films.changed { $0.components[2].settings = ["scale": 1] })
        } throws: {
            if case .settingInvalid("stars", "scale", _) = $0 as? HostError { true } else { false }
        }
        #expect(try await host.cast(8, by: .bob).previous == 9)
        try await host.end()
    }

    @Test func `a bad definition is refused whole, naming what is wrong`() async throws {
        let host = try await TestRegistry.start()
        await expect(
            .pluginNotFound("org.nobody", known: PluginLibrary(.builtIn).identifiers)
        ) { try await host.apply(.films.changed { $0.components[0].plugin = "org.nobody" }) }
        for spoil: @Sendable (inout ContainerDefinition) -> Void in [
            { $0.name = "Films" }, { $0.name = "daemon" }, { $0.components[1].name = "stars" },
            { $0.components[1].name = "a.b" }, { $0.fields[1].name = "title" },
        ] {
            await #expect {
                try await host.apply(.films.changed(spoil))
            } throws: {
                if case .definitionInvalid = $0 as? HostError { true } else { false }
            }
        }
        #expect(await host.on { $0.list(hasDetails: true) }.isEmpty)
        #expect(host.store.lastSequence == 0)
        try await host.end()
    }

    @Test func `long restores are done in slices that let others through`() async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        for batch in 0..<20 {
            try await host.put((0..<1_000).map { .film("f\(batch)-\($0)") })
        }
        try await host.stop()
        host = try await .start(in: host.directory)
        #expect(try await host.list().total == 20_000)
        // Made anew while calls go on: the loop is never kept for long.
        async let applied = host.apply(
            .films.changed { $0.fields.append(Field(name: "year", type: .integer)) })
        var longest = Duration.zero
        for _ in 0..<200 {
            let start = ContinuousClock.now
            _ = await host.on { $0.sequence }
            longest = max(longest, start.duration(to: .now))
        }
        _ = try await applied
        // Generous, for a debug build on a busy machine: whole, it takes a second.
        #expect(longest < .milliseconds(500))
        #expect(try await host.list().total == 20_000)
        try await host.end()
    }
}
