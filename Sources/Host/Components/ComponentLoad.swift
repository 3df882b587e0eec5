import AtriumKit
import DequeModule
import Index
import Logging
import Store

/// The state that a component reported at the end of its load, to be delivered when its container attaches it.
struct Loaded {
    var state = LoadedState()
    /// The items, if they are exactly its records, so that no event reports them.
    var items: RecordItems?

    /// All items, wherever they come from.
    var list: ItemList {
        if let items { return (items.count, items.item) }
        let reported = state.items ?? Pieces()
        return (reported.count, { reported[$0] })
    }
}

/// Items by their place, made on demand.
typealias ItemList = (count: Int, item: (Int) -> Item?)

/// The load of a component at one start, which ends with its start if it fails.
///
/// The component's records are read and decoded on a thread, and meanwhile passed to it and put into a list. Then it
/// reports its state, from which the list is filled if its items are not exactly its records.
final class ComponentLoad {
    private weak var slot: Slot?
    private let attempt: Int
    private let domain: Domain
    /// The state that the component has reported so far.
    private var reported = LoadedState()

    /// A load for the present start of a component, which is launched.
    init(of slot: Slot) {
        self.slot = slot
        attempt = slot.start.attempt
        domain = slot.domain
    }

    /// The slot; nil if the component was lost or started anew meanwhile.
    private var wanted: Slot? { slot.flatMap { $0.start.attempt == attempt ? $0 : nil } }

    private var isWanted: Bool { wanted != nil }

    // MARK: Records

    func run() {
        guard let slot = wanted else { return }
        slot.start.beginReading()
        // The load finds damage in the store again, so what is known of it is forgotten.
        slot.damage.beginLoading()
        guard slot.kind == .contents, slot.port?.directLoad?.listsRecords == true else {
            return loadEach(slot)
        }
        let (container, component, fields) = (slot.containerName, slot.name, slot.fields)
        let count = domain.recordsRead
        domain.read { store in
            Handover(
                value: try RecordLoad.read(
                    container, component, fields: fields, in: store, count: count))
        } then: { [self] result in
            guard let slot = wanted else { return }
            switch result {
            case .failure(let error):
                slot.start.fail(because: "Its records can't be read: \(error)")
            case .success(let load): adopt(load.value, slot)
            }
        }
    }

    /// Uses a list that is made of records, and passes its items to the component.
    private func adopt(_ load: RecordLoad?, _ slot: Slot) {
        // Not every record is an item: the component itself has to interpret them.
        guard let load, let direct = slot.port?.directLoad, let container = slot.container else {
            return loadEach(slot)
        }
        direct.load(load.items)
        slot.own.contents?.load(load.list, listsItsRecords: true)
        slot.report(load.unreadable, load.unfit, in: load.list)
        let isWanted = { self.isWanted }
        container.fillDerived(load.list, while: isWanted) {
            self.end(Loaded(items: load.items))
        }
    }

    private func end(_ loaded: Loaded) {
        slot?.prepared(loaded)
        slot?.start.loaded()
    }

    private func loadEach(_ slot: Slot) {
        let list = slot.kind == .contents ? ContentIndex(fields: slot.fields) : nil
        SlicedLoad(list, of: slot, attempt).run { [self] loading, problem in
            guard let slot = wanted else { return }
            if let problem {
                return slot.start.fail(because: "Its records can't be read: \(problem)")
            }
            slot.report(loading.unreadable, loading.unfit, in: loading.list)
            ask(slot, loading)
        }
    }

    // MARK: State

    /// Asks the component for its state.
    private func ask(_ slot: Slot, _ loading: SlicedLoad) {
        guard let port = slot.port else { return }
        slot.start.watch.awaitAnswer()
        port.reportAll(in: domain) { [self] part in
            guard let slot = wanted else { return false }
            reported.append(part.events)
            // Each part is progress, and more may follow.
            slot.start.watch.awaitAnswer()
            return true
        } then: { [self] failure in
            guard let slot = wanted else { return }
            slot.start.watch.endAwaiting()
            switch failure {
            case .died(let reason): slot.start.fail(because: reason)
            case .refused(let refusal): slot.start.fail(because: refusal.reason)
            case .mistrusted(let reason): slot.start.fail(because: reason)
            case nil where slot.kind == .contents && reported.items == nil:
                // The source is still loading, and will report its items later.
                end(Loaded(state: reported))
            case nil:
                fillList(of: slot, reported.items ?? Pieces(), loading) {
                    self.end(Loaded(state: self.reported))
                }
            }
        }
    }

    /// Fills a new list with the component's items, if it has any.
    private func fillList(
        of slot: Slot, _ items: Pieces<Item>, _ loading: SlicedLoad,
        then done: @escaping () -> Void
    ) {
        guard let made = loading.list, let contents = slot.own.contents,
            let container = slot.container
        else { return done() }
        let (fields, isWanted) = (slot.fields, { self.isWanted })
        loading.compare(items, in: domain, while: isWanted) { isSame in
            guard !isSame else {
                contents.load(made, listsItsRecords: true)
                return container.fillDerived(made, while: isWanted, then: done)
            }
            let list = ContentIndex(fields: fields)
            contents.load(list, listsItsRecords: false)
            self.fill(list, with: items, FieldChecker(fields: fields), loading) {
                container.fillDerived(list, while: isWanted, then: done)
            }
        }
    }

    /// Fills the list of a source whose items are not exactly its records.
    private func fill(
        _ list: ContentIndex, with items: Pieces<Item>, _ checker: FieldChecker,
        _ loading: SlicedLoad, then done: @escaping () -> Void
    ) {
        var next = 0
        var unfit = UnfitItems(areLeftOut: true)
        domain.slices.run { [self] in
            guard isWanted, next < items.count else { return false }
            let end = min(next + 64, items.count)
            let fitting = items[next..<end].filter { item in
                guard let problem = checker.check(item) else { return true }
                unfit.add(problem)
                return false
            }
            list.put(fitting.map { ($0, domain.commits.sequence) })
            next = end
            return true
        } then: { [self] in
            wanted?.report(unfit, in: list)
            loading.setRevisions(of: list, in: domain, while: { self.isWanted }) {
                if self.isWanted { done() }
            }
        }
    }
}

extension Slot {
    /// Reports unreadable records and unfit items in the component's status and in the log.
    fileprivate func report(
        _ unreadable: UnreadableRecords, _ unfit: UnfitItems, in list: ContentIndex?
    ) {
        damage.loaded(without: unreadable)
        report(unfit, in: list)
        guard let problem = unreadable.problem else { return }
        domain.logger.error(
            "a component's records can't be read", metadata: logFields(["reason": "It \(problem)."])
        )
    }

    /// Reports which of a list's items don't fit the fields, in the component's status and in the log.
    func report(_ unfit: UnfitItems, in list: ContentIndex?) {
        own.contents?.setUnfit(unfit)
        guard let problem = unfit.problem(in: list, FieldChecker(fields: fields)) else { return }
        domain.logger.warning(
            "items don't fit the fields", metadata: logFields(["reason": "It \(problem)."]))
    }
}

extension ComponentPort {
    /// Asks the component for all of its state, from the beginning if `anew`, one part per slice, until `part`
    /// returns false.
    func reportAll(
        anew: Bool = true, in domain: Domain, each part: @escaping (StatePart) -> Bool,
        then done: @escaping (PortFailure?) -> Void
    ) {
        reportState(anew: anew) { [weak self] result in
            switch result {
            case .failure(let failure): done(failure)
            case .success(let reported):
                guard part(reported), !reported.isLast else { return done(nil) }
                domain.slices.run {
                    false
                } then: {
                    self?.reportAll(anew: false, in: domain, each: part, then: done)
                }
            }
        }
    }
}

/// A value that one thread made and passes to another.
///
/// Unchecked: the first thread does not keep it.
private struct Handover<T>: @unchecked Sendable {
    let value: T
}

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

    /// Passes all records to the component; `done` is called at the end, with an error if they can't be read, and not
    /// if the component is started anew meanwhile.
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
        slot.start.watch.awaitAnswer()
        if let direct = port.directLoad {
            if let expected = slice.expected { direct.expect(expected) }
            if !slice.ballots.isEmpty { direct.load(slice.ballots) }
            if !slice.comments.isEmpty { direct.load(slice.comments) }
        }
        port.load(slice.changes) { [self] in
            unapplied -= 1
            guard isWanted else { return }
            if unapplied == 0 {
                slot.start.watch.endAwaiting()
            } else {
                slot.start.watch.awaitAnswer()
            }
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
