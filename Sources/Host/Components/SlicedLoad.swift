import AtriumKit
import DequeModule
import Index
import Store

/// Passes records from the thread that reads them to a component.
///
/// A few slices are read ahead, and a few are with the component; further ones are read once few of those wait. So a
/// component may take its time, the thread that reads seldom waits for it, and the memory for waiting slices is bounded.
///
/// The records are read in several steps, with other reads between them. They do not change meanwhile: changes of a
/// component's records wait until it is attached.
final class SlicedLoad {
    /// How many slices are read in one step.
    static let ahead = 16
    /// The maximum number of slices that the component has not applied yet.
    static let window = 4

    /// A message of the reading thread to the loop.
    private enum Part: Sendable {
        case slice(LoadSlice)
        case place(LoadSlice.Place)
    }

    /// The list of records that have the shape of an item; nil if no list is made.
    let list: ContentIndex?

    /// Records that can't be decoded, which are left out.
    private(set) var unreadable = UnreadableRecords()
    /// Items in the list that don't fit the fields.
    private(set) var unfit = UnfitItems()

    private weak var slot: Slot?
    private let attempt: Int
    /// The list's items, in the order of the records.
    private var items = Pieces<Item>()
    private var revisions = Pieces<(key: String, revision: Int64)>()

    private var place = LoadSlice.Place(key: nil, isEnd: false)
    private var waiting: Deque<LoadSlice> = []
    /// How many slices are with the component.
    private var unapplied = 0
    private var isReading = false
    private var isSending = false
    private var done: ((SlicedLoad, _ problem: (any Error)?) -> Void)?

    /// A load for one start of a component.
    init(_ list: ContentIndex?, of slot: Slot, _ attempt: Int) {
        self.list = list
        self.slot = slot
        self.attempt = attempt
    }

    deinit {
        Discard.later(items)
        Discard.later(revisions)
    }

    /// Passes all records to the component.
    ///
    /// - Parameter done: called at the end, with an error if the records can't be read; not called if the component
    ///   is started anew meanwhile.
    func run(_ done: @escaping (SlicedLoad, _ problem: (any Error)?) -> Void) {
        self.done = done
        read()
    }

    /// Whether this start of the component is still the present one.
    private var isWanted: Bool { slot?.start.attempt == attempt }

    private func read() {
        guard isWanted, let slot else { return }
        isReading = true
        let (container, component) = (slot.containerName, slot.name)
        let (kind, after, form) = (slot.kind, place, slot.port?.directLoad?.form)
        slot.domain.read { store, each in
            let place = try LoadSlice.read(
                container, component, kind: kind, form: form, after: after, atMost: Self.ahead,
                in: store
            ) { each(.slice($0)) }
            each(.place(place))
        } each: { [self] (part: Part) in
            switch part {
            case .slice(let slice): waiting.append(slice)
            case .place(let place): self.place = place
            }
            proceed()
        } then: { [self] result in
            isReading = false
            guard isWanted else { return }
            if case .failure(let error) = result { return end(error) }
            proceed()
        }
    }

    /// Takes the next step: reads, passes a slice on, or ends.
    private func proceed() {
        guard isWanted else { return }
        // The next ones are read while these are applied.
        if !isReading, !place.isEnd, waiting.count <= Self.window { read() }
        guard !isSending else { return }
        if !waiting.isEmpty { return unapplied < Self.window ? sendLater() : () }
        if !isReading, unapplied == 0 { end(nil) }
    }

    private func end(_ problem: (any Error)?) {
        let done = done
        self.done = nil
        if place.isEnd { unreadable.difference = place.tally.difference }
        done?(self, problem)
    }

    private func sendLater() {
        guard let domain = slot?.domain else { return }
        isSending = true
        // Not at once: a series of slices would keep the loop from polling its sockets.
        domain.timers.afterPoll { self.sendWaiting(in: domain) }
    }

    private func sendWaiting(in domain: Domain) {
        domain.slices.run { [self] in
            guard isWanted, unapplied < Self.window, let slice = waiting.popFirst() else {
                return false
            }
            domain.recordsRead.add(slice.count)
            send(slice)
            return true
        } then: { [self] in
            isSending = false
            proceed()
        }
    }

    private func send(_ slice: LoadSlice) {
        guard let slot, let port = slot.port else { return }
        unapplied += 1
        unreadable.add(slice.unreadable)
        slot.start.awaitAnswer()
        if let direct = port.directLoad {
            if let expected = slice.expected { direct.expect(expected) }
            if !slice.ballots.isEmpty { direct.load(slice.ballots) }
            if !slice.comments.isEmpty { direct.load(slice.comments) }
        }
        port.load(slice.changes) { [self] in
            unapplied -= 1
            guard isWanted else { return }
            if unapplied == 0 { slot.start.endAwaiting() } else { slot.start.awaitAnswer() }
            proceed()
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

extension DirectLoad {
    /// What the component takes in place of records.
    fileprivate var form: LoadSlice.Form? {
        restoresBallots ? .ballots : restoresComments ? .comments : nil
    }
}

// MARK: What came of it

extension SlicedLoad {
    /// Whether these items are those of the list, in the same order.
    ///
    /// Fast for a component that kept the items it was given: these share their memory.
    func compare(
        _ others: Pieces<Item>, in domain: Domain, while isWanted: @escaping () -> Bool,
        then done: @escaping (Bool) -> Void
    ) {
        var (next, isSame) = (0, items.count == others.count)
        domain.slices.run { [items] in
            guard isWanted(), isSame, next < items.count else { return false }
            let end = min(next + 64, items.count)
            isSame = items[next..<end].elementsEqual(others[next..<end])
            next = end
            return true
        } then: {
            if isWanted() { done(isSame) }
        }
    }

    /// Sets for each item in a list the revision of its record.
    func setRevisions(
        of list: ContentIndex, in domain: Domain, while isWanted: @escaping () -> Bool,
        then done: @escaping () -> Void
    ) {
        var next = 0
        domain.slices.run { [revisions] in
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
