import NIOCore
import Store

/// Compares the facts of a source with what is shown of them, while writes go on.
///
/// How it works. The records are those of one moment, read slice by slice on a thread; each slice is
/// compared with what is shown *now*, a few facts in a turn of the loop. What was written since then
/// differs, too: so a difference is a suspicion only. Suspects are looked at again, some at a time: once
/// their component is quiet, and its gate closed so that nothing is written, a new moment of the store is
/// taken and what is shown is noted. The gate opens, and what the store held at that moment is read and
/// compared. What differs then is damage.
///
/// In memory are a slice, the suspects, and the first keys of what was found.
final class FactComparison<Source: FactSource> {
    typealias Fact = Source.Fact
    /// Tells what is shown under keys; asked in a turn of the loop, or while the gate is closed.
    typealias Shown = (
        _ keys: [String], _ passesGate: Bool, _ answer: @escaping Answer<[Fact?]>
    ) -> Void

    /// How many facts are compared between two looks at the clock.
    private static var chunk: Int { 8 }
    /// So many suspects are looked at again together.
    private static var together: Int { 64 }

    /// How many facts the store holds.
    private(set) var facts = 0
    /// Those of which nothing is shown.
    private(set) var notShown = 0
    /// What differs.
    private(set) var differences = FoundKeys()
    /// The records that are damaged or no JSON.
    private(set) var unreadable = FoundKeys()
    /// Told how many records were read by now.
    var progress: (_ more: Int) -> Void = { _ in }

    private let check: CheckedSlot
    private let source: Source
    private let snapshot: Snapshot
    /// Nil: the records are read alone.
    private let shown: Shown?
    private let describe: (_ key: String, _ stored: Fact?, _ shown: Fact?) -> String
    private var waiting: ArraySlice<FactSlice<Fact>.Entry> = []
    private var isEnd = false
    private var suspects: [String] = []
    private var done: ((HostError?) -> Void)?

    /// A comparison of a component's records.
    ///
    /// - Parameters:
    ///   - source: reads them.
    ///   - snapshot: as they were at this moment.
    ///   - check: the component.
    ///   - shown: what is shown of them; nil: nothing can be, they are read alone.
    ///   - describe: how a stored and a shown fact differ, in half a sentence.
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

    /// Compares everything.
    ///
    /// - Parameter done: called at the end, with why it could not go on; not called once nobody wants
    ///   to know any more.
    func run(_ done: @escaping (HostError?) -> Void) {
        self.done = done
        read()
    }

    /// Compares what is shown under some keys in addition, where the store may hold nothing.
    func suspect(_ keys: [String], _ done: @escaping (HostError?) -> Void) {
        self.done = done
        suspects += keys
        isEnd = true
        goOn()
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
                goOn()
            }
        }
    }

    /// Compares, looks at suspects again, reads on or ends; in a turn of its own.
    private func goOn() {
        check.domain.inSlices {
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
                goOn()
            }
        }
    }
}

// MARK: Suspects

extension FactComparison {
    /// Looks at suspects again, with what the store holds and what is shown at one moment.
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

    /// Reads what the store held at that moment, and compares it.
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
                goOn()
            }
        }
    }
}

/// Keys of what was found, the first few by name.
struct FoundKeys {
    private(set) var count = 0
    private(set) var keys: [String] = []
    /// What is said of the first one.
    private(set) var example = ""

    mutating func add(_ key: String, _ detail: String) {
        if count == 0 { example = detail }
        count += 1
        if keys.count < Damage.named { keys.append(key) }
    }
}
