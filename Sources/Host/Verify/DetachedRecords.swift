import Logging
import NIOCore
import Store

/// Compares the records of detached components with their sums, once after a start.
///
/// Loading a component checks its records; nothing loads detached ones.
///
/// They are read in slices. Each slice takes its turn among all other reads, and is followed by a pause, since no
/// caller waits for the result.
final class DetachedRecords {
    /// The most records that one slice reads.
    private static let slice = 2_000
    private static let pause = TimeAmount.milliseconds(20)

    private struct ComponentPath: Hashable {
        var container: String
        var component: String
    }

    private let domain: Domain
    private let find: (String) -> Container?
    private var found: [(path: ComponentPath, records: UnreadableRecords)] = []
    /// Whether all records were read.
    private(set) var isOver = false

    /// Creates a check that has not started; `find` returns a container by its name.
    init(in domain: Domain, find: @escaping (String) -> Container?) {
        (self.domain, self.find) = (domain, find)
    }

    /// Reads all detached components, one after the other.
    func run() {
        domain.read { store in
            try store.containers().filter { !$0.isEmpty }.flatMap { container in
                try store.components(of: container).map {
                    ComponentPath(container: container, component: $0)
                }
            }
        } then: { [self] result in
            let paths = (try? result.get()) ?? []
            check(at: paths.filter { !isAttached($0) }[...])
        }
    }

    /// The problems of components that are still detached, one sentence each.
    var problems: [String] {
        found.compactMap { path, records in
            guard isThere(path), let problem = records.problem else { return nil }
            return
                "The component \(path.container)/\(path.component), which is not attached, \(problem)"
        }
    }

    private func isAttached(_ path: ComponentPath) -> Bool {
        find(path.container)?.slot(path.component) != nil
    }

    /// Whether the records still belong to a detached component; a removed container may have left records.
    private func isThere(_ path: ComponentPath) -> Bool {
        guard let container = find(path.container) else { return true }
        return container.slot(path.component) == nil && container.remains[path.component] != nil
    }

    private func check(at paths: ArraySlice<ComponentPath>) {
        guard let path = paths.first, !domain.isStopping else {
            isOver = true
            return
        }
        read(Part(path: path)) { [self] records in
            if let problem = records.problem {
                found.append((path, records))
                domain.logger.error(
                    "a component's records can't be read",
                    metadata: [
                        "container": "\(path.container)", "component": "\(path.component)",
                        "reason": "It is not attached, and \(problem).",
                    ])
            }
            check(at: paths.dropFirst())
        }
    }

    /// The progress through one component's records.
    private struct Part: Sendable {
        var path: ComponentPath
        var key: String?
        var tally = RecordTally()
        var records = UnreadableRecords()
        var isEnd = false

        struct Enough: Error {}

        mutating func read(atMost count: Int, from store: Store) throws {
            var left = count
            do {
                var (key, records) = (key, records)
                defer { (self.key, self.records) = (key, records) }
                try store.forEachRecord(
                    container: path.container, component: path.component, after: key,
                    tally: &tally
                ) { bytes, value, _ in
                    let name = String(decoding: bytes, as: UTF8.self)
                    key = name
                    if value == nil { records.add(name) }
                    left -= 1
                    // Stop before this record is counted; the next slice counts it.
                    if left == 0 { throw Enough() }
                }
            } catch is Enough {
                return
            }
            isEnd = true
            records.difference = tally.difference
        }
    }

    private func read(
        _ part: Part, _ done: @escaping (UnreadableRecords) -> Void
    ) {
        domain.read { store in
            var part = part
            try part.read(atMost: Self.slice, from: store)
            return part
        } then: { [self] result in
            // The store itself reports a file that can't be read at all.
            guard let part = try? result.get(), !part.isEnd, !domain.isStopping else {
                return done((try? result.get())?.records ?? UnreadableRecords())
            }
            domain.timers.after(Self.pause) { self.read(part, done) }
        }
    }
}
