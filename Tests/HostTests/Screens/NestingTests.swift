import AtriumKit
import TestSupport
import Testing

@testable import Host

/// Which containers may be parts of which.
@Suite(.timeLimit(.minutes(3))) struct NestingTests {
    private func nest(_ name: String, _ parts: String...) -> ContainerDefinition {
        ContainerDefinition(
            name: name,
            components: parts.enumerated().map { place, part in
                ComponentDefinition(name: "p\(place)", container: part)
            }, source: name)
    }

    /// The definition with filters, whose section is `day`.
    private func filtered(_ definition: ContainerDefinition) -> ContainerDefinition {
        definition.changed {
            $0.fields = [Field(name: "title", type: .keywords)]
            $0.components.append(
                ComponentDefinition(
                    name: "filters", plugin: "org.atrium.facets",
                    settings: ["sections": [["id": "day", "field": "title"]]]))
        }
    }

    private func refused(_ host: TestRegistry, _ definition: ContainerDefinition) async -> String? {
        do {
            try await host.apply(definition)
            return nil
        } catch HostError.definitionInvalid(_, let reason) {
            return reason
        } catch {
            return "\(error)"
        }
    }

    @Test func `circles, more than four levels and more than 32 parts are refused with the path`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(nest("c"))
        try await host.apply(nest("b", "c"))
        try await host.apply(nest("a", "b"))
        #expect(
            await refused(host, nest("a", "a")) == "A container can't be a part of itself: a > a.")
        #expect(
            await refused(host, nest("c", "a"))
                == "A container can't be a part of itself: a > b > c > a.")
        try await host.apply(nest("c", "d"))
        #expect(
            await refused(host, nest("d", "e"))
                == "Containers are nested at most 4 deep: a > b > c > d > e.")
        #expect(try await host.status(of: "c").definition.components.map(\.container) == ["d"])

        var many = nest("many")
        many.components = (0..<33).map { ComponentDefinition(name: "p\($0)", container: "x") }
        #expect(
            await refused(host, many)
                == "A screen has at most 32 parts, those of parts among them, and many would have "
                + "more: many > x.")
        many.components.removeLast(17)
        try await host.apply(many)
        #expect(
            await refused(host, nest("x", "y", "z"))
                == "A screen has at most 32 parts, those of parts among them, and many would have "
                + "more: many > x > z.")
        try await host.apply(nest("x", "y"))
        try await host.end()
    }

    @Test func `two definitions that close a circle are refused together, whichever comes last`()
        async throws
    {
        let host = try await TestRegistry.start()
        await #expect(throws: HostError.self) {
            try await host.apply(nest("a", "b"), nest("b", "a"))
        }
        #expect(await host.on { $0.list(hasDetails: true).isEmpty }, "neither was applied")
        let replies: [Result<ApplyOutcome, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            let names = index == 0 ? ("a", "b") : ("b", "a")
            registry.structure.apply(
                [
                    ContainerDefinition(
                        name: names.0,
                        components: [ComponentDefinition(name: "p", container: names.1)])
                ], dryRun: false, prune: false, by: .ann, reply)
        }
        #expect(replies.count { if case .success = $0 { true } else { false } } == 1)
        try await host.end()
    }

    @Test func `a container that is a part of others is not deleted`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(nest("sleep"))
        try await host.apply(nest("week", "sleep"), nest("day", "sleep"))
        await expect(
            .refused(
                reason: "The container 'sleep' is a part of day, week: take it out of there first.",
                retryAfter: nil)
        ) {
            try await host.call { $0.structure.delete("sleep", purge: false, by: .ann, $1) }
        }
        _ = try await host.call { $0.detach("week", "p0", purge: false, by: .ann, $1) }
        try await host.apply(nest("day"))
        _ = try await host.call { $0.structure.delete("sleep", purge: false, by: .ann, $1) }
        try await host.end()
    }

    @Test func `a definition says what changes in its parts, and a restart keeps it`() async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films, filtered(nest("sleep")), filtered(nest("work")))
        var day = filtered(nest("day", "sleep"))
        try await host.apply(day)
        day.components[0].follow = ["day": "day"]
        day.components[0].hidesEmpty = true
        #expect(
            try await host.apply(day.changed { _ in }).results.first?.changes == [
                "component p0: follow changed", "component p0: hidden while it is empty",
            ])
        day.components[0].container = "work"
        #expect(
            try await host.apply(day.changed { _ in }).results.first?.changes == [
                "component p0: the container sleep -> the container work"
            ])
        let again = try await host.restarted()
        let kept = try await again.status(of: "day").definition.components
        #expect(kept == day.components)
        #expect(
            await refused(
                again,
                .films.changed {
                    $0.components[1] = ComponentDefinition(name: "list", container: "work")
                })?.hasPrefix("The component 'list' has records, and would be a container now: ")
                == true)
        #expect(
            await refused(
                again,
                nest("day", "work").changed { $0.lists = ListModes(contents: ["p0"]) })
                == "contents[0]: 'p0' is the container work, and only the kind contents has a list "
                + "to show; there is none.")
        try await again.end()
    }
}
