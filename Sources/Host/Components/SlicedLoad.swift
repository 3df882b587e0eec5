import AtriumKit
import DequeModule
import Index
import Store

/// Records on their way from the thread that reads them into a component.
///
/// A few slices are read ahead and a few are with the component; the next are read once those were
/// taken. So a component takes as long as it needs, and what waits for it stays bounded.
///
/// The records are read in several turns, others' reads between them. They are the same all the while:
/// what changes a component's records waits until it is there.
final class SlicedLoad {
    /// How many slices are read in one turn.
    static let ahead = 16
    /// How many slices a component has that it has not taken over yet.
    static let window = 4

    /// What the reading thread tells.
    private enum Part: Sendable {
        case slice(LoadSlice)
        case place(LoadSlice.Place)
    }

    /// What the records make when each is an item; nil where there is no list.
    let list: ContentIndex?

    /// Records that are not in it, nor anywhere else.
    private(set) var unreadable = UnreadableRecords()
    /// Items in it that don't fit the fields.
    private(set) var unfit = UnfitItems()

    private weak var slot: Slot?
    private let attempt: Int
    /// The list's items, in the order of the records.
    private var items = Pieces<Item>()
    private var revisions = Pieces<(key: String, revision: Int64)>()

    private var place = LoadSlice.Place(key: nil, isEnd: false)
    private var waiting: Deque<LoadSlice> = []
    /// How many slices are with the component.
    private var given = 0
    private var isReading = false
    private var isTaking = false
    private var done: ((SlicedLoad, _ problem: (any Error)?) -> Void)?

    /// A loading of a component's start.
    init(_ list: ContentIndex?, of slot: Slot, _ attempt: Int) {
        self.list = list
        self.slot = slot
        self.attempt = attempt
    }

    deinit {
        Discard.later(items)
        Discard.later(revisions)
    }

    /// Hands all records over.
    ///
    /// - Parameter done: called at the end, with what is wrong if they can't be read; not called once
    ///   the component is started anew.
    func run(_ done: @escaping (SlicedLoad, _ problem: (any Error)?) -> Void) {
        self.done = done
        read()
    }

    /// Whether the component is still waited for.
    private var isWanted: Bool { slot?.start == attempt }

    private func read() {
        guard isWanted, let slot else { return }
        isReading = true
        let (container, component) = (slot.containerName, slot.name)
        let (kind, after) = (slot.kind, place)
        slot.domain.read { store, each in
            let place = try LoadSlice.read(
                container, component, kind: kind, after: after, atMost: Self.ahead, in: store
            ) { each(.slice($0)) }
            each(.place(place))
        } each: { [self] (part: Part) in
            switch part {
            case .slice(let slice): waiting.append(slice)
            case .place(let place): self.place = place
            }
            goOn()
        } then: { [self] result in
            isReading = false
            guard isWanted else { return }
            if case .failure(let error) = result { return end(error) }
            goOn()
        }
    }

    /// Reads, hands over or ends: whatever comes next.
    private func goOn() {
        guard isWanted, !isTaking else { return }
        if !waiting.isEmpty, given < Self.window { return takeLater() }
        guard waiting.isEmpty, !isReading else { return }
        if !place.isEnd { return read() }
        if given == 0 { end(nil) }
    }

    private func end(_ problem: (any Error)?) {
        let done = done
        self.done = nil
        if place.isEnd { unreadable.difference = place.tally.difference }
        done?(self, problem)
    }

    private func takeLater() {
        guard let domain = slot?.domain else { return }
        isTaking = true
        // Not at once: slice upon slice would keep the loop from its sockets.
        domain.afterPoll { self.takeWaiting(in: domain) }
    }

    private func takeWaiting(in domain: Domain) {
        domain.inSlices { [self] in
            guard isWanted, given < Self.window, let slice = waiting.popFirst() else {
                return false
            }
            domain.recordsRead.add(slice.changes.count)
            take(slice)
            return true
        } then: { [self] in
            isTaking = false
            goOn()
        }
    }

    private func take(_ slice: LoadSlice) {
        guard let slot, let port = slot.port else { return }
        given += 1
        unreadable.add(slice.unreadable)
        slot.awaitComponent()
        port.load(slice.changes) { [self] in
            given -= 1
            guard isWanted else { return }
            if given == 0 { slot.endAwaiting() } else { slot.awaitComponent() }
            goOn()
        }
        guard let list else { return }
        list.put(slice.items)
        let checker = FieldChecker(fields: slot.fields)
        for problem in slice.items.lazy.compactMap({ checker.check($0.item) }) {
            unfit.add(problem)
        }
        items.append(contentsOf: slice.items.lazy.map(\.item))
        for (change, revision) in zip(slice.changes, slice.revisions) {
            revisions.append((change.key, revision))
        }
    }
}

// MARK: What came of it

extension SlicedLoad {
    /// Whether these are the items of the list, in its order.
    ///
    /// Who keeps them as they were read has them in the same memory: that is seen at a glance.
    func compare(
        _ others: Pieces<Item>, in domain: Domain, while isWanted: @escaping () -> Bool,
        then done: @escaping (Bool) -> Void
    ) {
        var (next, isSame) = (0, items.count == others.count)
        domain.inSlices { [items] in
            guard isWanted(), isSame, next < items.count else { return false }
            let end = min(next + 64, items.count)
            isSame = items[next..<end].elementsEqual(others[next..<end])
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
