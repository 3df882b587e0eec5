import AtriumKit
import DequeModule
import Index

/// Passes all items of a contents component through the delegate into a new list, in slices.
///
/// The old list is shown until the new one is complete. A change that comes meanwhile is made in both lists, and is
/// not replaced by the item's earlier state.
final class ListFilling {
    /// The number of items in one call of the delegate.
    static let piece = 128
    /// The number of items that are put into the list at a time.
    private static let step = 64

    /// A change that the delegate has passed on.
    private enum Passed {
        case put(ArraySlice<Item>)
        case remove(ArraySlice<String>)

        /// Whether it is this very array, and not an equal one.
        func isJust(_ items: [Item]) -> Bool {
            guard case .put(let mine) = self, mine.count == items.count else { return false }
            return mine.withUnsafeBufferPointer { mine in
                items.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
            }
        }
    }

    private let container: Container
    let slot: Slot
    private let attempt: Int
    private lazy var list = ContentIndex(fields: slot.fields)
    /// The loaded items, whose list is used if the delegate passes exactly these on.
    private var loaded: ItemList?
    /// Whether the delegate has passed on each piece of ``loaded`` unchanged, and nothing else has changed.
    private var isSame = true
    /// The number of pieces that it passed on unchanged before the first other one.
    private var same = 0
    /// The number of these pieces that are in the new list.
    private var again = 0
    /// The changes that the delegate has passed on during the present call; nil: it is not being called.
    private var passed: [Passed]?
    /// Whether the delegate has passed on `replaceAll`.
    private var isBegun = false
    /// The changes that the delegate has passed on and that are not in the list yet.
    private var waiting: Deque<Passed> = []
    /// Items that have changed since, other than by what the delegate has passed on.
    private var touched: Set<String> = []
    private var unfit = UnfitItems(areLeftOut: true)
    /// Whether the component has sent `replaceAll` in its reply.
    private var isReported = false
    /// Whether the component has meanwhile reported `replaceAll` again.
    private var isOutdated = false
    /// Whether this follows from a `replaceAll` that the component reported by itself.
    private var isUnasked = false

    init(of slot: Slot, in container: Container) {
        (self.slot, self.container) = (slot, container)
        attempt = slot.start.attempt
    }

    private var domain: Domain { container.domain }

    /// Whether this filling is still the present one.
    var isWanted: Bool { slot.start.attempt == attempt && container.fillings.isPresent(self) }

    // MARK: Changes from the delegate

    /// Takes a change that the delegate passes on during a call; false if it is a change of another kind.
    func collect(_ change: ContentChange) -> Bool {
        guard passed != nil else { return false }
        switch change {
        case .replaceAll: isBegun = true
        case .insert(let items) where isBegun, .update(let items) where isBegun:
            passed?.append(.put(items[...]))
        case .remove(let ids) where isBegun:
            // The delegate knows of the later changes, so its removal counts.
            touched.subtract(ids)
            passed?.append(.remove(ids[...]))
        default: return false
        }
        return true
    }

    /// Records that all items are replaced again: they are requested once the present ones are shown.
    func outdate() { isOutdated = true }

    /// Makes another change in the new list, which the old list shows already.
    func follow(_ change: ContentChange, revision: Int64) {
        // Until then no items were requested, so none can be older than this change.
        guard isBegun else { return }
        isSame = false
        switch change {
        case .insert(let items), .update(let items):
            list.put(items, revision: revision)
            touched.formUnion(items.lazy.map(\.id))
        case .remove(let ids):
            list.remove(ids)
            touched.formUnion(ids)
        default: break
        }
    }

    /// Calls the delegate with `replaceAll`.
    private func begin() {
        waiting += report(.replaceAll)
        isSame = waiting.isEmpty
    }

    private func report(_ change: ContentChange) -> [Passed] {
        passed = []
        defer { passed = nil }
        container.delivery.callDelegate(change, from: slot)
        return passed ?? []
    }

    private func callDelegate(_ items: [Item]) {
        let passed = report(.insert(items))
        if loaded != nil {
            isSame = isSame && passed.count == 1 && passed[0].isJust(items)
            guard !isSame else {
                same += 1
                return
            }
        }
        waiting.append(contentsOf: passed)
    }

    // MARK: Filling the list

    /// Puts some items into the list; false when all are in it.
    private func putNext() -> Bool {
        if !isSame, again < same, let loaded {
            put(piece(again, of: loaded)[...])
            again += 1
            return true
        }
        switch waiting.popFirst() {
        case .put(let items):
            put(items.prefix(Self.step))
            if items.count > Self.step { waiting.prepend(.put(items.dropFirst(Self.step))) }
        case .remove(let ids):
            list.remove(ids.prefix(Self.step).filter { !touched.contains($0) })
            if ids.count > Self.step { waiting.prepend(.remove(ids.dropFirst(Self.step))) }
        case nil: return false
        }
        return true
    }

    private func put(_ items: ArraySlice<Item>) {
        let revision = domain.commits.sequence
        list.put(items.lazy.filter { !self.touched.contains($0.id) }.map { ($0, revision) })
    }

    private func piece(_ number: Int, of items: ItemList) -> [Item] {
        let start = number * Self.piece
        return (start..<min(start + Self.piece, items.count)).compactMap(items.item)
    }
}

// MARK: Items of a load, or of an attached component

extension ListFilling {
    /// Passes the items of a load to the delegate, and shows the loaded list or a new one.
    func run(_ items: ItemList, then done: @escaping () -> Void) {
        loaded = items
        begin()
        let count = isBegun ? (items.count + Self.piece - 1) / Self.piece : 0
        var next = 0
        domain.slices.run { [self] in
            guard isWanted else { return false }
            guard next < count else { return putNext() }
            callDelegate(piece(next, of: items))
            next += 1
            return true
        } then: { [self] in
            guard isWanted else { return done() }
            if isSame, isBegun {
                container.fillings.end(self)
                slot.own.contents?.takeLoaded().map(container.derived.endFilling)
                return done()
            }
            slot.own.contents?.dropLoaded().map(container.derived.endFilling)
            end(then: done)
        }
    }

    /// Requests all items of the component, once its own state is the committed one.
    func ask() {
        isUnasked = true
        container.gates.close([slot.name]) { [self] in
            // The first part already shows the committed state, so that others need not wait for the remaining ones.
            defer { container.gates.open([slot.name]) }
            guard isWanted, slot.isAttached else { return drop() }
            begin()
            guard isBegun else {
                drop()
                return container.itemsChanged(in: slot)
            }
            askMore(anew: true)
        }
    }

    /// Requests the next items, once the earlier ones are in the list.
    private func askMore(anew: Bool) {
        guard isWanted, let port = slot.port else { return drop() }
        port.reportState(anew: anew) { [self] result in
            // A component that was lost is restarted, and then loaded.
            guard isWanted, case .success(let part) = result else { return drop() }
            var (events, items) = (part.events[...], [Item]()[...])
            domain.slices.run { [self] in
                guard isWanted else { return false }
                if !items.isEmpty {
                    callDelegate(fitting(items.prefix(Self.piece)))
                    items = items.dropFirst(Self.piece)
                    return true
                }
                switch events.popFirst() {
                case .contents(.replaceAll): isReported = true
                case .contents(.insert(let reported)): items = reported[...]
                case nil: return putNext()
                default: break
                }
                return true
            } then: { [self] in
                guard part.isLast else { return askMore(anew: false) }
                guard !isReported else { return end {} }
                // Its source is loading again and reports its items later; the old list stays until then.
                drop()
                if isOutdated { container.fillings.refill(slot) }
            }
        }
    }

    /// The items that fit the fields; the others are noted.
    private func fitting(_ items: ArraySlice<Item>) -> [Item] {
        let checker = FieldChecker(fields: slot.fields)
        return items.filter { item in
            guard let problem = checker.check(item) else { return true }
            unfit.add(problem)
            return false
        }
    }

    /// Shows the list, once votes and comments are in it.
    private func end(then done: @escaping () -> Void) {
        guard isWanted, isBegun else {
            drop()
            return done()
        }
        // Never cancelled, because others wait for its end.
        let isWaiting = { true }
        container.derived.fill(list, while: isWaiting) { [self] in
            if isWanted { show() } else { drop() }
            done()
        }
    }

    private func show() {
        container.fillings.end(self)
        slot.own.contents?.show(list)
        container.derived.endFilling(list)
        // Items of a load that don't fit were noted by the load.
        if isUnasked { slot.report(unfit, in: list) }
        container.structureChanged()
        list.growOrders(in: domain)
        if isUnasked { container.itemsChanged(in: slot) }
        if isOutdated { container.fillings.refill(slot) }
    }

    /// Drops the new list, because it is no longer needed or the delegate has passed nothing on.
    private func drop() {
        container.derived.endFilling(list)
        container.fillings.end(self)
    }
}
