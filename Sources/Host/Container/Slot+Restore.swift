import AtriumKit
import Logging
import NIOCore
import Store

// The restore of a component: its records read and decoded on a thread, and meanwhile applied here
// and put into the list that they make when each is an item.
extension Slot {
    func restore(_ attempt: Int) {
        guard kind == .contents, port?.listsRecords == true else { return restoreEach(attempt) }
        let (container, component, fields) = (container?.name ?? "", name, fields)
        let count = domain.recordsRead
        domain.read { store in
            Handover(
                value: try RecordLoad.read(
                    container, component, fields: fields, in: store, count: count))
        } then: { [weak self] result in
            guard let self, start == attempt else { return }
            switch result {
            case .failure(let error): failStart(because: "Its records can't be read: \(error)")
            case .success(let load): takeOver(load.value, attempt)
            }
        }
    }

    /// Takes over a list that is made of records, and gives the component its items.
    private func takeOver(_ load: RecordLoad?, _ attempt: Int) {
        // A record that is not an item is the component's to judge.
        guard let load, let port, let container else { return restoreEach(attempt) }
        port.restore(load.items)
        restoredList = load.list
        let isWanted = { self.start == attempt }
        container.fillDerived(load.list, while: isWanted) {
            self.prepared(Restored(events: [], items: load.items))
        }
    }

    private func prepared(_ restored: Restored) {
        state = .prepared(restored)
        let done = startDone
        startDone = nil
        done?(nil)
    }

    private func restoreEach(_ attempt: Int) {
        let list = kind == .contents ? ContentIndex(fields: fields) : nil
        let apply: ([Change]) -> Bool = { [weak self] changes in
            guard let self, start == attempt, let port else { return false }
            port.restore(changes)
            return true
        }
        let restoration = Restoration(list, apply: apply)
        let (container, component, kind) = (container?.name ?? "", name, kind)
        domain.read { store, each in
            try RestoreSlice.read(container, component, kind: kind, in: store, each: each)
        } each: { [domain] slice in
            restoration.take(slice, in: domain)
        } then: { [weak self] result in
            guard let self, start == attempt else { return }
            switch result {
            case .failure(let error):
                failStart(because: "Its records can't be read: \(error)")
            case .success:
                restoration.end { self.finishRestore(attempt, restoration) }
            }
        }
    }

    private func finishRestore(_ attempt: Int, _ restoration: Restoration) {
        guard start == attempt, let port else { return }
        awaitComponent()
        port.finishRestore { [weak self] result in
            guard let self, start == attempt else { return }
            endAwaiting()
            switch result {
            case .failure(.died(let reason)): failStart(because: reason)
            case .failure(.refused(let refusal)): failStart(because: refusal.reason)
            case .success(let events):
                fillList(events, attempt, restoration) {
                    self.prepared(Restored(events: events))
                }
            }
        }
    }

    /// Fills a new list with the restored items, if the component has any.
    private func fillList(
        _ events: [ComponentEvent], _ attempt: Int, _ restoration: Restoration,
        then done: @escaping () -> Void
    ) {
        guard let made = restoration.list, let container else { return done() }
        let items = events.flatMap { event -> [Item] in
            if case .contents(.replaceAll(let items)) = event { items } else { [] }
        }
        restoredList = made
        let isWanted = { self.start == attempt }
        restoration.compare(items, in: domain, while: isWanted) { isSame in
            guard !isSame else {
                return container.fillDerived(made, while: isWanted, then: done)
            }
            let list = ContentIndex(fields: self.fields)
            self.restoredList = list
            self.fill(list, with: items, attempt, restoration) {
                container.fillDerived(list, while: isWanted, then: done)
            }
        }
    }

    /// Fills the list of a source whose items are not just what its records say.
    private func fill(
        _ list: ContentIndex, with items: [Item], _ attempt: Int, _ restoration: Restoration,
        then done: @escaping () -> Void
    ) {
        let checker = FieldChecker(fields: fields)
        var next = 0
        var unfit: [FieldProblem] = []
        domain.inSlices {
            guard self.start == attempt, next < items.count else { return false }
            let end = min(next + 64, items.count)
            let fitting = items[next..<end].filter { item in
                guard let problem = checker.check(item) else { return true }
                unfit.append(problem)
                return false
            }
            list.put(fitting.map { ($0, self.domain.sequence) })
            next = end
            return true
        } then: {
            if let first = unfit.first {
                self.domain.logger.warning(
                    "items that don't fit the fields are left out",
                    metadata: self.logFields(["count": "\(unfit.count)", "reason": "\(first)"]))
            }
            restoration.setRevisions(of: list, in: self.domain, while: { self.start == attempt }) {
                if self.start == attempt { done() }
            }
        }
    }
}

/// What one thread made and gave away, and another takes: nobody else has it.
private struct Handover<T>: @unchecked Sendable {
    let value: T
}

/// Records on their way from the thread that reads them into a component.
private final class Restoration {
    /// What the records make when each is an item; nil where there is no list.
    let list: ContentIndex?

    private let apply: ([Change]) -> Bool
    /// The list's items, in the order of the records.
    private var items: [Item] = []
    private var revisions: [(key: String, revision: Int64)] = []
    private var waiting: [RestoreSlice] = []
    private var isTaking = false
    private var ended: (() -> Void)?

    /// A restoration that hands changes to the component with `apply`, which says whether it is
    /// still waited for.
    init(_ list: ContentIndex?, apply: @escaping ([Change]) -> Bool) {
        self.list = list
        self.apply = apply
    }

    /// Lets records follow those that came before.
    func take(_ slice: RestoreSlice, in domain: Domain) {
        waiting.append(slice)
        guard !isTaking else { return }
        isTaking = true
        // Not at once: slice upon slice would keep the loop from its sockets.
        domain.after(.microseconds(100)) { self.takeWaiting(in: domain) }
    }

    /// Comes back once all records are taken; none comes any more.
    func end(_ done: @escaping () -> Void) {
        guard isTaking else { return done() }
        ended = done
    }

    private func takeWaiting(in domain: Domain) {
        var next = 0
        domain.inSlices { [self] in
            guard next < waiting.count else { return false }
            let slice = waiting[next]
            waiting[next] = RestoreSlice()
            next += 1
            domain.recordsRead.add(slice.changes.count)
            return take(slice)
        } then: { [self] in
            waiting.removeAll(keepingCapacity: true)
            isTaking = false
            ended?()
        }
    }

    private func take(_ slice: RestoreSlice) -> Bool {
        guard apply(slice.changes) else { return false }
        guard let list else { return true }
        list.put(slice.items)
        items.append(contentsOf: slice.items.lazy.map(\.item))
        for (change, revision) in zip(slice.changes, slice.revisions) {
            revisions.append((change.key, revision))
        }
        return true
    }

    /// Whether these are the items of the list, in its order.
    ///
    /// Who keeps them as they were read has them in the same memory: that is seen at a glance.
    func compare(
        _ others: [Item], in domain: Domain, while isWanted: @escaping () -> Bool,
        then done: @escaping (Bool) -> Void
    ) {
        var (next, isSame) = (0, items.count == others.count)
        domain.inSlices { [items] in
            guard isWanted(), isSame, next < items.count else { return false }
            let end = min(next + 64, items.count)
            isSame = items[next..<end] == others[next..<end]
            next = end
            return true
        } then: {
            if isWanted() { done(isSame) }
        }
    }

    /// Items that are records were last changed when these were.
    func setRevisions(
        of list: ContentIndex, in domain: Domain, while isWanted: @escaping () -> Bool,
        then done: @escaping () -> Void
    ) {
        var next = 0
        domain.inSlices { [revisions] in
            guard isWanted(), next < revisions.count else { return false }
            let end = min(next + 64, revisions.count)
            for (key, revision) in revisions[next..<end] { list.setRevision(revision, of: key) }
            next = end
            return true
        } then: {
            done()
        }
    }
}
