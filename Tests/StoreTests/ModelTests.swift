import Store
import StoreFaults
import TestSupport
import Testing

/// Compares random runs, with people and purges, entries and commits that fail and ends like kills, with a model
/// that knows nothing but what was answered.
@Suite(.timeLimit(.minutes(10))) struct ModelTests {
    /// `MODEL_SEEDS` says how many runs there are (60), and `MODEL_SEED` the first one's seed (0).
    private static let seeds: Range<Int> = {
        let first = FaultTests.number("MODEL_SEED") ?? 0
        return first..<first + (FaultTests.number("MODEL_SEEDS") ?? 60)
    }()

    @Test(arguments: ModelTests.seeds)
    func `the store holds exactly what was answered, whatever fails`(seed: Int) throws {
        var random = RepeatableRandom(UInt64(seed) &+ 1)
        let scratch = try TemporaryDirectory()
        var model = Model()
        for _ in 0..<4 {
            let bench = try Bench(scratch)
            model.startEpochs()
            let program = try OtherProgram(at: bench.store.file)
            // By the time, which no two have alike, so that a retry in another group fails alike.
            try program.refuseEntries(where: "(NEW.time * 31 + \(seed)) % 17 = 0")
            var isLocked = false
            var sent: [Entry] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let entry = model.decide(using: &random)
                bench.store.append(entry, ticket: UInt64(sent.count))
                sent.append(entry)
                if Int.random(in: 0..<12, using: &random) == 0 {
                    bench.settle()
                    bench.store.probe()
                    // A lock that another program has is an error of the storage.
                    guard Int.random(in: 0..<2, using: &random) == 0 else { continue }
                    try isLocked ? program.unlock() : program.lockOut(bench.store)
                    isLocked.toggle()
                }
            }
            if isLocked { try program.unlock() }
            let isKilled = Bool.random(using: &random)
            if isKilled { bench.store.abandon() } else { bench.store.close() }
            try program.heal()
            try model.learn(bench.groups.flatMap { $0 }, of: sent)
            try model.compare(with: scratch, unknown: isKilled ? sent : [])
        }
    }
}

private struct Model {
    private var records: [RecordKey: [UInt8]] = [:]
    private var people: Set<Actor> = []
    private var sequence: Int64 = 0
    private var epochs: [String: Int] = [:]
    private var made: UInt64 = 0

    mutating func startEpochs() {
        epochs = [:]
    }

    mutating func decide(using random: inout RepeatableRandom) -> Entry {
        let container = ["films", "books", "plays"].randomElement(using: &random) ?? "films"
        if Int.random(in: 0..<6, using: &random) == 0 { epochs[container, default: 0] += 1 }
        made += 1
        let number = made
        let changes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            RecordChange(
                container: container, component: "list",
                key: "\(Int.random(in: 0..<6, using: &random))\n\(number % 3)",
                value: Bool.random(using: &random)
                    ? [UInt8](#"{"item":"\#(number % 4)","text":"\#(number)"}"#.utf8) : nil)
        }
        let name = Int64.random(in: 1...12, using: &random)
        let person = Actor(number: name << 50, name: "unix:\(name)")
        return Entry(
            container: container, epoch: epochs[container] ?? 0, time: Int64(number),
            actor: person.number, changes: changes, purges: purges(in: container, using: &random),
            notification: NotificationDraft(topic: "t", payload: [UInt8]("\(number)".utf8)),
            actors: people.contains(person) ? [] : [person])
    }

    /// Of one entry in six.
    private func purges(in container: String, using random: inout RepeatableRandom) -> [Purge] {
        let number = Int.random(in: 0..<6, using: &random)
        return switch Int.random(in: 0..<18, using: &random) {
        case 0: [Purge(container: container, component: "list", item: "\(number % 4)")]
        case 1: [Purge(container: container, component: "list", prefix: "\(number)\n")]
        case 2: [Purge(container: container, component: "list")]
        default: []
        }
    }

    /// Applies what was answered as committed; sequences must be contiguous.
    mutating func learn(_ outcomes: [Outcome], of sent: [Entry]) throws {
        #expect(outcomes.map(\.ticket) == (0..<UInt64(outcomes.count)).map { $0 })
        for outcome in outcomes {
            guard case .success(let commit) = outcome.result else { continue }
            #expect(commit.sequence == sequence + 1)
            apply(sent[Int(outcome.ticket)], at: commit.sequence)
        }
    }

    /// Opens the store again; entries that were never answered may be there, but only whole.
    mutating func compare(with scratch: TemporaryDirectory, unknown: [Entry]) throws {
        let bench = try Bench(scratch)
        defer { bench.store.close() }
        for told in try bench.store.notifications(after: sequence, limit: 1_000).notifications {
            let entry = try #require(
                unknown.first { $0.notification?.payload == told.payload },
                "something that was never sent, or was refused, is in the store")
            #expect(told.sequence == sequence + 1)
            #expect(told.actor == entry.actor)
            apply(entry, at: told.sequence)
        }
        #expect(bench.store.lastSequence == sequence)
        var stored: [RecordKey: [UInt8]] = [:]
        for container in ["films", "books", "plays"] {
            try bench.store.forEachRecord(container: container, component: "list") {
                key, value, _ in
                let key = String(decoding: key, as: UTF8.self)
                stored[RecordKey(container: container, component: "list", key: key)] = value.map {
                    [UInt8]($0)
                }
            }
        }
        #expect(stored == records)
        #expect(Set(try bench.store.actors()) == people)
        bench.store.waitForDeletion()
        #expect(try bench.store.recordRows() == records.count)
    }

    private mutating func apply(_ entry: Entry, at sequence: Int64) {
        self.sequence = sequence
        people.formUnion(entry.actors)
        // What the entry itself writes stays.
        for purge in entry.purges {
            records = records.filter { !purge.names($0.key, $0.value) }
        }
        for change in entry.changes {
            let key = RecordKey(
                container: change.container, component: change.component, key: change.key)
            records[key] = change.value
        }
    }
}

extension Purge {
    /// Whether a record goes with it.
    fileprivate func names(_ record: RecordKey, _ value: [UInt8]) -> Bool {
        guard record.container == container, record.component == component else { return false }
        guard let item else { return record.key.hasPrefix(prefix) }
        return String(decoding: value, as: UTF8.self).hasPrefix(#"{"item":"\#(item)","#)
    }
}
