import AtriumKit
import Foundation
import Store
import Synchronization
import Testing

@testable import Host

/// Random commands on several containers, with commits that fail and hosts that are killed.
///
/// It holds that
/// - what was acknowledged is there, and what was refused or failed is not;
/// - what was not answered is there whole or not at all, and its notification says which;
/// - index, tallies, threads and ballots are what the records say, before and after a restart;
/// - notifications are one a commit, contiguous, in the order of the replies.
@Suite struct HostModelTests {
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

    private func check(_ seed: UInt64, losing script: RemoteLauncher.Script?) async throws {
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

/// Numbers from a seed (SplitMix64).
private struct ModelRandom: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension ContainerDefinition {
    /// What the model's containers are made of.
    fileprivate static func model(_ name: String, inWorkers: Bool) -> ContainerDefinition {
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
private struct Issued: Sendable {
    var container: String
    var effect: HostModel.Effect
    var seed: UInt64
}

/// One run of the model test.
private struct ModelRun {
    var commands = 0
    var failures = 0
    private var host: TestRegistry
    private let script: RemoteLauncher.Script?
    private var random: ModelRandom
    private var models: [String: HostModel]
    private var names: [String] { ["one", "two", "three"] }
    private var serial = 0

    init(seed: UInt64, losing script: RemoteLauncher.Script?) async throws {
        random = ModelRandom(state: seed)
        self.script = script
        host = try await Self.start(script)
        models = [:]
        for name in names {
            models[name] = HostModel()
            try await host.apply(.model(name, inWorkers: script != nil))
        }
    }

    private static func start(
        _ script: RemoteLauncher.Script?, in directory: String? = nil
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
    private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func issue() -> Issued {
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
            case 16: .edit(post, text: "e\(serial)")
            case 17: .delete(post)
            case 18: .moderate(post, shown: pick(0..<2) == 0)
            default: .nothing
            }
        return Issued(container: container, effect: effect, seed: random.next())
    }

    /// Makes some commands in one turn of the loop, perhaps with failures, and waits for them.
    mutating func burst() async throws {
        injectFaults()
        let issued = (0..<pick(1..<12)).map { _ in issue() }
        commands += issued.count
        let replies = await host.callAll(issued.count) { registry, index, reply in
            registry.make(issued[index], reply)
        }
        host.store.inject(Faults())
        host.store.probe()
        var happened: [(sequence: Int64, issued: Issued)] = []
        for (issued, reply) in zip(issued, replies) {
            switch reply {
            case .success(let sequence): happened.append((sequence, issued))
            case .failure(.storeUnavailable): failures += 1
            case .failure(.componentUnavailable): break
            case .failure(.itemNotFound), .failure(.commentNotFound), .failure(.refused): break
            case .failure(let error): Issue.record("\(issued): \(error)")
            }
        }
        note(happened)
    }

    /// Takes in what happened, in the order in which it did.
    private mutating func note(_ happened: [(sequence: Int64, issued: Issued)]) {
        // Those that changed nothing bear the sequence of what they rest on, and come after it.
        let ordered = happened.enumerated().sorted {
            ($0.element.sequence, $0.offset) < ($1.element.sequence, $1.offset)
        }
        for (_, event) in ordered { models[event.issued.container]?.apply(event.issued.effect) }
    }

    private mutating func injectFaults() {
        guard pick(0..<3) == 0 else { return }
        let rolls = Mutex(ModelRandom(state: random.next()))
        let roll: @Sendable (UInt64) -> Bool = { odds in
            rolls.withLock { $0.next() % odds == 0 }
        }
        host.store.inject(
            Faults(
                beforeEntry: { _, _ in
                    if roll(8) { throw InjectedFault(isStorage: roll(4)) }
                },
                beforeCommit: { _ in if roll(8) { throw InjectedFault(isStorage: false) } }))
    }
}

extension Registry {
    /// Makes a command; the reply is its sequence.
    fileprivate func make(_ issued: Issued, _ reply: @escaping Reply<Int64>) {
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
        case .edit(let id, let text):
            edit(name, component: nil, comment: id, text: text, by: .moderator) {
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
    private func restructure(_ name: String, _ seed: UInt64, _ reply: @escaping Reply<Int64>) {
        switch seed % 3 {
        case 0: move(name, "talk", to: Int(seed % 5), by: .ann, reply)
        case 1: setHidden(name, "stars", seed % 2 == 0, by: .ann, reply)
        default:
            let isRemote = containers[name]?.slots.contains { $0.isolation == .process } ?? false
            var definition = ContainerDefinition.model(name, inWorkers: isRemote)
            definition.components[2].settings = ["scale": seed % 2 == 0 ? 5 : 6]
            definition.components[3].title = "T\(seed % 4)"
            apply([definition], dryRun: false, prune: false, by: .ann) {
                reply($0.map(\.sequence))
            }
        }
    }
}

// MARK: Kills

extension ModelRun {
    /// Kills the host while commands are on their way, and starts it again.
    ///
    /// Of the commands that were not answered, the store's notifications say which happened.
    mutating func kill() async throws {
        let before = host.store.lastSequence
        let issued = (0..<pick(5..<40)).map { _ in identifiable() }
        commands += issued.count
        let replies = ModelReplies()
        let target = host
        await target.on { registry in
            for (index, command) in issued.enumerated() {
                registry.make(command) { replies.set($0, at: index) }
            }
        }
        for _ in 0..<pick(0..<40_000) { _ = target.store.lastSequence }
        try await target.kill()
        host = try await Self.start(script, in: target.directory)
        let stored = try host.store.notifications(after: before, limit: 10_000)
        let actors = Dictionary(
            uniqueKeysWithValues: try host.store.actors().map { ($0.number, $0.name) })
        var happened: [(sequence: Int64, issued: Issued)] = []
        for (index, command) in issued.enumerated() {
            let found = try stored.first { try command.isTold(by: $0, actors) }?.sequence
            switch replies[index] {
            case .success(let sequence): #expect(found == sequence, "\(command)")
            case .failure: #expect(found == nil, "\(command)")
            case nil: break
            }
            if let found { happened.append((found, command)) }
        }
        #expect(happened.count == stored.count)
        note(happened)
        try await checkAgainstModel()
    }

    /// A command that its notification tells from all others.
    private mutating func identifiable() -> Issued {
        serial += 1
        let container = names[pick(0..<names.count)]
        let effect: HostModel.Effect =
            switch pick(0..<3) {
            case 0: .put(["k\(serial)", "l\(serial)", "m\(serial)"], title: "t\(serial)")
            case 1: .cast(nil, actor: "kill:\(serial)", Double(pick(1..<6)))
            default: .post("c\(serial)", on: nil, text: "x\(serial)", actor: "unix:1")
            }
        return Issued(container: container, effect: effect, seed: 0)
    }

    mutating func restart() async throws {
        try await host.stop()
        host = try await Self.start(script, in: host.directory)
        try await checkAgainstModel()
        try checkNotifications()
    }
}

/// The replies that came before a kill.
private final class ModelReplies: Sendable {
    private let replies = Mutex<[Int: Result<Int64, HostError>]>([:])

    subscript(index: Int) -> Result<Int64, HostError>? { replies.withLock { $0[index] } }

    func set(_ reply: Result<Int64, HostError>, at index: Int) {
        replies.withLock { $0[index] = reply }
    }
}

extension Issued {
    /// Whether a notification is this command's.
    fileprivate func isTold(
        by notification: StoredNotification, _ actors: [Int64: String]
    ) throws -> Bool {
        guard notification.topic.hasPrefix(container + ".") else { return false }
        let payload = try Value(jsonBytes: notification.payload).object ?? [:]
        switch effect {
        case .put(let ids, _):
            return payload["items"]?.list?.contains(.text(ids[0])) ?? false
        case .cast(_, let actor, _):
            return notification.topic.hasSuffix("votes.cast")
                && notification.actor.flatMap { actors[$0] } == actor
        case .post(let id, _, _, _): return payload["comment"]?.text == id
        default: return false
        }
    }
}

// MARK: Checks

extension ModelRun {
    /// Compares all that can be read of all containers with what should be there.
    func checkAgainstModel(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for name in names {
            let seen = try await host.observe(name)
            let expected = models[name]?.observation
            #expect(seen == expected, "container \(name)", sourceLocation: sourceLocation)
        }
    }

    /// One notification a commit, without holes.
    func checkNotifications() throws {
        let sequences = try host.store.notifications(after: 0, limit: 1_000_000).map(\.sequence)
        #expect(sequences == Array(1...host.store.lastSequence))
    }
}

extension TestRegistry {
    /// All that a reader can see of a container; the ways to see it must agree.
    fileprivate func observe(_ name: String) async throws -> Observation {
        let page = try await list(name, sort: ["-votes.count"], limit: 1_000)
        var seen = Observation()
        var counts: [Int] = []
        for item in page.items {
            let (ballots, comments) = try await voices(name, item.id)
            let title = try Value(jsonBytes: item.fields).object?["title"]?.text
            seen.items[item.id] = Observation.Item(
                title: title ?? "", ballots: ballots, comments: comments)
            #expect(item.votes?.tally == Self.tally(of: ballots))
            #expect(item.comments == comments.count)
            counts.append(ballots.count)
        }
        #expect(counts == counts.sorted(by: >))
        (seen.ballots, seen.comments) = try await voices(name, nil)
        let own = try await call { registry, reply in
            reply(Result { () throws(HostError) in try registry.describe(name) })
        }
        #expect(own.votes == Self.tally(of: seen.ballots))
        #expect(own.comments == seen.comments.count)
        return seen
    }

    private static func tally(of ballots: [String: Double]) -> Tally {
        let values = ballots.values.sorted()
        var tally = Tally(count: values.count)
        for value in values { tally.histogram["\(Int(value))", default: 0] += 1 }
        if !values.isEmpty { tally.score = values.reduce(0, +) / Double(values.count) }
        return tally
    }

    /// The ballots by actor, and the comments that are shown.
    private func voices(
        _ name: String, _ item: String?
    ) async throws -> ([String: Double], [String: String]) {
        let ballots = try await call {
            $0.ballots(
                SubjectAddress(container: name, item: item), limit: 1_000, cursor: nil, $1)
        }
        let thread = try await call {
            $0.thread(
                name, component: nil, ThreadQuery(subject: Subject(item: item), limit: 1_000), $1)
        }
        var comments: [String: String] = [:]
        for view in thread.comments where view.entry.comment.state == .shown {
            comments[view.entry.comment.id] = view.entry.comment.text ?? ""
        }
        return (
            Dictionary(uniqueKeysWithValues: ballots.ballots.map { ($0.actor, $0.value) }),
            comments
        )
    }
}
