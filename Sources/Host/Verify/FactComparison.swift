import Store

/// Compares the facts of a source with what is shown of them, while writes continue.
///
/// The records are those of one snapshot, read slice by slice on a thread. Each slice is compared with what is shown
/// *now*, a few facts in each turn of the loop. What was written since the snapshot differs too, so a difference is
/// only a suspicion. Suspects are checked again, some at a time: when their component is quiet and its gate is
/// closed, so that nothing is written, a new snapshot is taken and what is shown is recorded. Then the gate opens,
/// and what the new snapshot holds is read and compared. What still differs is damage.
///
/// It keeps in memory one slice, the suspects, and the first keys of what was found.
final class FactComparison<Source: FactSource> {
    typealias Fact = Source.Fact
    /// Returns what is shown under keys; called in a turn of the loop, or while the gate is closed.
    typealias Shown = (
        _ keys: [String], _ passesGate: Bool, _ answer: @escaping Answer<[Fact?]>
    ) -> Void

    /// How many facts are compared between two reads of the clock.
    private static var chunk: Int { 8 }
    /// How many suspects are checked together.
    private static var together: Int { 64 }

    /// The number of facts that the store holds.
    private(set) var facts = 0
    private(set) var notShown = 0
    /// The keys of facts that differ.
    private(set) var differences = FoundKeys()
    /// The keys of records that are damaged or not JSON.
    private(set) var unreadable = FoundKeys()
    /// Called with the number of records that were read.
    var progress: (_ more: Int) -> Void = { _ in }

    private let check: CheckedSlot
    private let source: Source
    private let snapshot: Snapshot
    /// The facts that are shown; nil: the records are read and not compared.
    private let shown: Shown?
    private let describe: (_ key: String, _ stored: Fact?, _ shown: Fact?) -> String
    private var waiting: ArraySlice<FactSlice<Fact>.Entry> = []
    private var isEnd = false
    private var suspects: [String] = []
    private var done: ((HostError?) -> Void)?

    /// Creates a comparison of a component's records with what is shown, which `describe` describes in half a
    /// sentence; without `shown` the records are only read.
    init(
        _ source: Source, in snapshot: Snapshot, of check: CheckedSlot, shown: Shown?,
        describe: @escaping (_ key: String, _ stored: Fact?, _ shown: Fact?) -> String
    ) {
        self.source = source
        self.snapshot = snapshot
        self.check = check
        self.shown = shown
        self.describe = describe
    }

    /// Compares everything; `done` is called at the end, with an error if it could not continue, and not once the
    /// verification is no longer wanted.
    func run(_ done: @escaping (HostError?) -> Void) {
        self.done = done
        read()
    }

    /// Also compares what is shown under some keys, for which the store may hold nothing.
    func addSuspects(_ keys: [String], _ done: @escaping (HostError?) -> Void) {
        self.done = done
        suspects += keys
        isEnd = true
        proceed()
    }

    private func end(_ error: HostError?) {
        let done = done
        self.done = nil
        done?(error)
    }

    private func read() {
        check.domain.read { [source, snapshot] _ in
            try source.next(in: snapshot)
        } then: { [self] result in
            guard check.isWanted else { return }
            switch result {
            case .failure(let error): end(.unreadable(error))
            case .success(let slice):
                facts += slice.facts.count
                for key in slice.unreadable { unreadable.add(key, "") }
                if shown != nil { waiting = slice.facts[...] }
                isEnd = slice.isEnd
                progress(slice.records)
                proceed()
            }
        }
    }

    /// Continues in a turn of its own: compares, checks suspects, reads the next slice or ends.
    private func proceed() {
        check.domain.slices.run {
            false
        } then: { [self] in
            guard check.isWanted else { return }
            if suspects.count >= Self.together || (waiting.isEmpty && isEnd && !suspects.isEmpty) {
                return confirm()
            }
            if !waiting.isEmpty { return compare() }
            if isEnd { end(nil) } else { read() }
        }
    }

    private func compare() {
        if let error = check.absence { return end(error) }
        let entries = waiting.prefix(Self.chunk)
        waiting = waiting.dropFirst(Self.chunk)
        shown?(entries.map(\.key), false) { [self] result in
            switch result {
            case .failure(let error): end(error)
            case .success(let shown):
                for (entry, fact) in zip(entries, shown) where entry.fact != fact {
                    suspects.append(entry.key)
                }
                proceed()
            }
        }
    }
}

// MARK: Suspects

extension FactComparison {
    /// Checks suspects again: records what is shown at the moment of a new snapshot.
    private func confirm() {
        let keys = Array(suspects.prefix(Self.together))
        suspects.removeFirst(keys.count)
        check.atOneMoment { [self] moment in
            guard case .success(let later) = moment, let shown else {
                return end(moment.failure)
            }
            shown(keys, true) { [self] facts in
                check.release()
                switch facts {
                case .failure(let error): end(error)
                case .success(let facts): find(keys, facts, source.only(keys), later, [:])
                }
            }
        }
    }

    /// Reads what the new snapshot holds, and compares it.
    private func find(
        _ keys: [String], _ shown: [Fact?], _ source: Source, _ snapshot: Snapshot,
        _ stored: [String: Fact]
    ) {
        check.domain.read { _ in
            try source.next(in: snapshot)
        } then: { [self] result in
            guard check.isWanted else { return }
            switch result {
            case .failure(let error): end(.unreadable(error))
            case .success(let slice):
                var stored = stored
                for entry in slice.facts { stored[entry.key] = entry.fact }
                guard slice.isEnd else { return find(keys, shown, source, snapshot, stored) }
                for (key, shown) in zip(keys, shown)
                where stored[key] != shown && !slice.unreadable.contains(key) {
                    if shown == nil { notShown += 1 }
                    differences.add(key, describe(key, stored[key], shown))
                }
                proceed()
            }
        }
    }
}

/// The keys of what was found: their number, and the first few.
struct FoundKeys {
    private(set) var count = 0
    private(set) var keys: [String] = []
    /// The description of the first one.
    private(set) var example = ""

    mutating func add(_ key: String, _ detail: String) {
        if count == 0 { example = detail }
        count += 1
        if keys.count < Damage.named { keys.append(key) }
    }
}
