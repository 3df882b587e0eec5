import AtriumKit
import PluginLoader
import Store
import StoreFaults
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Random commands on several containers, with commits that fail and hosts that are killed.
///
/// It holds that
/// - what was acknowledged is there, and what was refused or failed is not;
/// - what was not answered is there whole or not at all, and its notification says which;
/// - index, tallies, threads and ballots are what the records say, before and after a restart;
/// - notifications are one a commit, contiguous, in the order of the replies.
@Suite(.timeLimit(.minutes(10))) struct HostModelTests {
    @Test(arguments: [1, 2, 3, UInt64.random(in: 4...UInt64.max)])
    func `a host is what its commands say, whatever fails and whenever it is killed`(
        seed: UInt64
    ) async throws {
        print("host model: seed \(seed)")
        try await check(seed, losing: nil)
    }

    @Test(arguments: [5, UInt64.random(in: 6...UInt64.max)])
    func `the same holds with components in workers, some of which are lost`(
        seed: UInt64
    ) async throws {
        try await check(seed, losing: RemoteLauncher.Script())
    }

    func check(_ seed: UInt64, losing script: RemoteLauncher.Script?) async throws {
        print("host model: seed \(seed)")
        var run = try await ModelRun(seed: seed, losing: script)
        for round in 0..<60 {
            if round % 3 == 0 { script?.lose(1) }
            for _ in 0..<6 { try await run.burst() }
            try await run.checkAgainstModel()
            if round % 4 == 3 { try await run.kill() }
            if round % 10 == 9 { try await run.restart() }
        }
        try await run.end()
        #expect(run.commands > 1_500)
        #expect(run.failures > 10)
    }
}

extension ContainerDefinition {
    /// What the model's containers are made of.
    static func model(_ name: String, inWorkers: Bool) -> ContainerDefinition {
        films.changed { definition in
            definition.name = name
            guard inWorkers else { return }
            for index in definition.components.indices where index != 0 {
                definition.components[index].isolation = .process
            }
        }
    }
}

/// A command on its way: where, and what it changes.
struct Issued: Sendable {
    var container: String
    var effect: HostModel.Effect
    var seed: UInt64
}

/// One run of the model test.
struct ModelRun {
    var commands = 0
    var failures = 0
    var host: TestRegistry
    let script: RemoteLauncher.Script?
    var random: RepeatableRandom
    var models: [String: HostModel]
    var names: [String] { ["one", "two", "three"] }
    var serial = 0

    init(seed: UInt64, losing script: RemoteLauncher.Script?) async throws {
        random = RepeatableRandom(seed)
        self.script = script
        host = try await Self.start(script)
        models = [:]
        for name in names {
            models[name] = HostModel()
            try await host.apply(.model(name, inWorkers: script != nil))
        }
    }

    static func start(
        _ script: RemoteLauncher.Script?, in directory: TemporaryDirectory? = nil
    ) async throws -> TestRegistry {
        guard let script else { return try await .start(in: directory) }
        return try await .start(in: directory, workers: RemoteLauncher(script))
    }

    mutating func end() async throws {
        try checkNotifications()
        try await host.end()
    }
}

// MARK: Commands

extension ModelRun {
    mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func issue() -> Issued {
        serial += 1
        let container = names[pick(0..<names.count)]
        let item: String? = pick(0..<8) == 0 ? nil : "i\(pick(0..<12))"
        let actor = "unix:\(pick(0..<5))"
        let known = models[container]?.posts.keys.sorted() ?? []
        let post = known.isEmpty ? "none" : known[pick(0..<known.count)]
        let effect: HostModel.Effect =
            switch pick(0..<20) {
            case 0..<4:
                .put((0...pick(0..<4)).map { "i\((serial + $0) % 12)" }, title: "t\(serial)")
            case 4: .remove(["i\(pick(0..<12))"], purge: false)
            case 5: .remove(["i\(pick(0..<12))", "i\(pick(0..<12))"], purge: true)
            case 6..<11: .cast(item, actor: actor, Double(pick(1..<6)))
            case 11..<13: .retract(item, actor: actor)
            case 13..<16: .post("c\(serial)", on: item, text: "x\(serial)", actor: actor)
            case 16:
                .edit(
                    post, text: "e\(serial)",
                    actor: models[container]?.posts[post]?.author ?? actor)
            case 17: .delete(post)
            case 18: .moderate(post, shown: pick(0..<2) == 0)
            default: .nothing
            }
        return Issued(container: container, effect: effect, seed: random.next())
    }

    /// Makes some commands in one turn of the loop, perhaps with failures, and waits for them.
    mutating func burst() async throws {
        let fault = try injectFaults()
        let issued = (0..<pick(1..<12)).map { _ in issue() }
        commands += issued.count
        let replies = try await host.callAll(issued.count) { registry, index, reply in
            registry.make(issued[index], reply)
        }
        try fault?.heal()
        if fault != nil { _ = try host.store.pragma("max_page_count = 1073741823") }
        host.store.probe()
        var happened: [(sequence: Int64, issued: Issued)] = []
        for (issued, reply) in zip(issued, replies) {
            switch reply {
            case .success(let sequence): happened.append((sequence, issued))
            case .failure(.storeUnavailable): failures += 1
            case .failure(.componentUnavailable), .failure(.componentFailed): break
            case .failure(.itemNotFound), .failure(.commentNotFound), .failure(.refused): break
            case .failure(let error): Issue.record("\(issued): \(error)")
            }
        }
        note(happened)
    }

    /// Takes in what happened, in the order in which it did.
    mutating func note(_ happened: [(sequence: Int64, issued: Issued)]) {
        // Those that changed nothing bear the sequence of what they rest on, and come after it.
        let ordered = happened.enumerated().sorted {
            ($0.element.sequence, $0.offset) < ($1.element.sequence, $1.offset)
        }
        for (_, event) in ordered { models[event.issued.container]?.apply(event.issued.effect) }
    }

    /// Fills the disk, or has some of the entries refused, again and again by other odds.
    mutating func injectFaults() throws -> OtherProgram? {
        guard pick(0..<3) == 0 else { return nil }
        let program = try OtherProgram(at: host.store.file)
        if pick(0..<4) == 0 {
            let pages = try host.store.pragma("page_count") ?? 0
            _ = try host.store.pragma("max_page_count = \(pages + pick(0..<3))")
        } else {
            try program.refuseEntries(where: "abs(random()) % 6 = 0")
        }
        return program
    }
}

extension Registry {
    /// Makes a command; the reply is its sequence.
    func make(_ issued: Issued, _ reply: @escaping Reply<Int64>) {
        let name = issued.container
        func address(_ item: String?) -> SubjectAddress {
            SubjectAddress(container: name, item: item)
        }
        switch issued.effect {
        case .put(let ids, let title):
            let drafts = ids.map { id -> ItemDraft in
                var film = Item.film(id)
                film.fields["title"] = .text(title)
                return ItemDraft(item: film)
            }
            put(name, component: nil, drafts, by: .ann) { reply($0.map(\.sequence)) }
        case .remove(let ids, let purge):
            remove(name, component: nil, ids, purge: purge, by: .ann) {
                reply($0.map(\.sequence))
            }
        case .cast(let item, let actor, let value):
            cast(address(item), value: value, by: Caller(actor: actor)) {
                reply($0.map(\.sequence))
            }
        case .retract(let item, let actor):
            retract(address(item), by: Caller(actor: actor)) { reply($0.map(\.sequence)) }
        case .post(let id, let item, let text, let actor):
            post(address(item), parent: nil, text: text, id: id, by: Caller(actor: actor)) {
                reply($0.map(\.sequence))
            }
        case .edit(let id, let text, let actor):
            edit(name, component: nil, comment: id, text: text, by: Caller(actor: actor)) {
                reply($0.map(\.sequence))
            }
        case .delete(let id):
            delete(name, component: nil, comment: id, by: .moderator) {
                reply($0.map(\.sequence))
            }
        case .moderate(let id, let shown):
            moderate(
                name, component: nil, comment: id, state: shown ? .shown : .pending, reason: nil,
                by: .moderator
            ) { reply($0.map(\.sequence)) }
        case .nothing: restructure(name, issued.seed, reply)
        }
    }

    /// Changes the container's structure so that nobody sees a difference.
    func restructure(_ name: String, _ seed: UInt64, _ reply: @escaping Reply<Int64>) {
        switch seed % 3 {
        case 0: move(name, "talk", to: Int(seed % 5), by: .ann, reply)
        case 1: setHidden(name, "stars", seed % 2 == 0, by: .ann, reply)
        default:
            let isRemote = containers[name]?.slots.contains { $0.isolation == .process } ?? false
            var definition = ContainerDefinition.model(name, inWorkers: isRemote)
            definition.components[2].settings = ["scale": seed % 2 == 0 ? 5 : 6]
            definition.components[3].title = "T\(seed % 4)"
            structure.apply([definition], dryRun: false, prune: false, by: .ann) {
                reply($0.map(\.sequence))
            }
        }
    }
}
