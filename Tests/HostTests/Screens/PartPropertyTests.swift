import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Screens with parts, whatever happens in any order.
@Suite(.timeLimit(.minutes(3))) struct PartPropertyTests {
    /// The host of ``PartTests``, with a part of a part, which is a part of the screen, too.
    private func start() async throws -> (TestRegistry, PartModel) {
        let host = try await PartTests.host()
        try await host.apply(
            PartTests.child("work").changed {
                $0.components.append(
                    ComponentDefinition(
                        name: "sleep", container: "sleep", follow: ["genre": "genre"]))
            })
        var model = PartModel(of: "day")
        model.items = [
            "day": ["noon": ["drama"], "night": ["horror"]],
            "sleep": ["nap": ["drama"], "dream": ["horror"]], "work": ["desk": ["drama"]],
        ]
        model.define("work", [.init(name: "sleep")])
        model.define("day", [.init(name: "sleep"), .init(name: "work")])
        return (host, model)
    }

    /// Something that happens; what can't be done now is refused, and changes nothing.
    private func happen(
        _ random: inout RepeatableRandom, _ host: TestRegistry, _ client: ScreenClient,
        _ model: inout PartModel
    ) async throws {
        let container = ["day", "sleep", "work", "work"].randomElement(using: &random) ?? "day"
        let film = "film-\(Int.random(in: 0..<12, using: &random))"
        let genre = ["drama", "horror"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1, 2:
            try await host.put(.film(film, [genre]), in: container)
            model.items[container]?[film] = [genre]
        case 3:
            _ = try? await host.remove(film, in: container)
            model.items[container]?[film] = nil
        case 4:
            let address = SubjectAddress(container: container, item: film)
            _ = try? await host.call { $0.cast(address, value: 3, by: .ann, $1) }
        case 5: try await define(&random, host, &model)
        default: try await choose(&random, host, client, model)
        }
    }

    /// The container around has other parts.
    private func define(
        _ random: inout RepeatableRandom, _ host: TestRegistry, _ model: inout PartModel
    ) async throws {
        let parts = [["sleep", "work"], ["work"], ["work", "sleep"], []]
        var own: [PartModel.Entry] = []
        for name in parts.randomElement(using: &random) ?? [] {
            own.append(.init(name: name, hidesEmpty: Bool.random(using: &random)))
        }
        let entries = own
        try await host.apply(
            PartTests.day().changed { day in
                day.components += entries.map {
                    ComponentDefinition(
                        name: $0.name, container: $0.name, follow: ["genre": "genre"],
                        hidesEmpty: $0.hidesEmpty)
                }
            })
        model.define("day", own)
    }

    /// Somebody chooses something on the screen, or on a part of it.
    private func choose(
        _ random: inout RepeatableRandom, _ host: TestRegistry, _ client: ScreenClient,
        _ model: PartModel
    ) async throws {
        let path = ["", "sleep", "work", "work/sleep"].randomElement(using: &random) ?? ""
        let place = path.isEmpty ? client.id : client.part(path)
        let genre = ["drama", "horror"].randomElement(using: &random) ?? ""
        let component = ["sleep", "work"].randomElement(using: &random) ?? ""
        let isOn = Bool.random(using: &random)
        let kind = Int.random(in: 0..<5, using: &random)
        let done: Int? = try? await host.call { (registry, reply: @escaping Reply<Int>) in
            switch kind {
            case 0, 1: registry.select(place, section: "genre", filter: genre, by: .ann, reply)
            case 2: registry.clear(place, by: .ann, reply)
            case 3: registry.search(place, isOn ? "1" : "", by: .ann, reply)
            default: registry.setHidden(place, component: component, isOn, by: .ann, reply)
            }
        }
        let node = model.node(path)
        #expect(node != nil || done == nil, "what is not there can't be worked on")
        guard done != nil, let node else { return }
        switch kind {
        case 0, 1: node.selection.insert(genre)
        case 2: node.selection.removeAll()
        case 3: node.search = isOn ? "1" : ""
        default: if isOn { node.hidden.insert(component) } else { node.hidden.remove(component) }
        }
        model.lead(from: node)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `whoever follows the revisions has what the rules say, and what those have who start anew`(
        _ seed: UInt64
    ) async throws {
        let (host, rules) = try await start()
        var model = rules
        var random = RepeatableRandom(seed)
        let request = PartTests.request
        let client = try await ScreenClient(host, request)
        for _ in 0..<25 {
            for _ in 0..<4 {
                try await happen(&random, host, client, &model)
                if Bool.random(using: &random) { try await client.catchUp() }
            }
            try await host.settle(client.id)
            try await client.catchUp()
            let shown = client.copy.parts.mapValues { $0.lists["list"]?.map(\.id) ?? [] }
            #expect(shown == model.shown)
            #expect(client.ids() == model.ids(of: model.root))
            var followed = client.copy
            try await client.resume(request, revision: -1)
            try await client.catchUp()
            followed.revision = client.copy.revision
            #expect(followed == client.copy)
            guard followed == client.copy, shown == model.shown else { break }
        }
        try await host.end()
    }
}

extension TestRegistry {
    /// Waits until a screen shows what there is, and structures are as they are to be.
    fileprivate func settle(_ screen: ScreenID) async throws {
        try await until {
            await self.on { registry in
                registry.containers.values.allSatisfy(\.isQuiet) && registry.structure.queue.isIdle
            }
        }
        // What was left for later turns has had its turn, and what that left to the screen.
        for _ in 0..<3 {
            let _: Void = try await call { registry, reply in
                registry.domain.slices.run {
                    false
                } then: {
                    reply(.success(()))
                }
            }
            let _: Void = try await call { registry, reply in
                guard let screen = registry.state.screens[screen] else {
                    return reply(.success(()))
                }
                screen.queue { finished in
                    finished()
                    reply(.success(()))
                }
            }
        }
    }
}
