import AtriumKit
import DequeModule
import Index
import Logging

/// All items of a contents component on their way through the delegate into a new list, in slices.
///
/// Until all are there the list of before is shown. A change that comes meanwhile goes into both lists; what was read
/// of an item before it changed does not replace the change.
final class ListFilling {
    /// How many items the delegate is told of at a time.
    static let piece = 128
    /// How many items are put into the list at a time.
    private static let step = 64

    /// What the delegate has passed on.
    private enum Passed {
        case put(ArraySlice<Item>)
        case remove(ArraySlice<String>)

        /// Whether it is just this array, and not an equal one.
        func isJust(_ items: [Item]) -> Bool {
            guard case .put(let mine) = self, mine.count == items.count else { return false }
            return mine.withUnsafeBufferPointer { mine in
                items.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress }
            }
        }
    }

    private let container: Container
    private let slot: Slot
    private let attempt: Int
    private lazy var list = ContentIndex(fields: slot.fields)
    /// What the delegate was told of, as far as it takes over the list that the load has filled with just these.
    private var loaded: ItemList?
    /// Whether it has passed on each piece of ``loaded`` as it was, and nothing else has changed.
    private var isSame = true
    /// How many pieces it passed on so before another one.
    private var same = 0
    /// How many of these are in the new list.
    private var again = 0
    /// What the delegate has passed on of the present piece; nil: it is not being told of any.
    private var passed: [Passed]?
    /// Whether the delegate has passed on that all items are other ones.
    private var isBegun = false
    /// What it has passed on and is not in the list yet.
    private var waiting: Deque<Passed> = []
    /// Items that changed since, other than by what the delegate has passed on.
    private var touched: Set<String> = []
    private var unfit = UnfitItems(areLeftOut: true)
    /// Whether the component that was asked has told that all items follow.
    private var isTold = false
    /// Whether the component has told meanwhile that all items are other ones again.
    private var isOutdated = false
    /// Whether the component has told by itself that all items are other ones.
    private var isUnasked = false

    init(of slot: Slot, in container: Container) {
        (self.slot, self.container) = (slot, container)
        attempt = slot.start
    }

    private var domain: Domain { container.domain }

    /// Whether it goes on.
    var isWanted: Bool { slot.start == attempt && container.fillings[slot.name] === self }

    // MARK: What the delegate passes on

    /// Takes in what the delegate passes on of what it is told; false: that is a change of its own.
    func takes(_ change: ContentChange) -> Bool {
        guard passed != nil else { return false }
        switch change {
        case .replaceAll: isBegun = true
        case .insert(let items) where isBegun, .update(let items) where isBegun:
            passed?.append(.put(items[...]))
        case .remove(let ids) where isBegun:
            // It knows what changed since.
            touched.subtract(ids)
            passed?.append(.remove(ids[...]))
        default: return false
        }
        return true
    }

    /// All items are other ones again: they are asked for once these are shown.
    fileprivate func outdate() { isOutdated = true }

    /// Something else has changed, which the list of before shows already.
    func follow(_ change: ContentChange, revision: Int64) {
        // Until it is begun nothing is told of what was before.
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

    /// Tells the delegate that all items are other ones.
    private func begin() {
        waiting += tell(.replaceAll)
        isSame = waiting.isEmpty
    }

    private func tell(_ change: ContentChange) -> [Passed] {
        passed = []
        defer { passed = nil }
        container.pass(change, from: slot)
        return passed ?? []
    }

    /// Tells the delegate of some items.
    private func pass(_ items: [Item]) {
        let passed = tell(.insert(items))
        if loaded != nil {
            isSame = isSame && passed.count == 1 && passed[0].isJust(items)
            guard !isSame else {
                same += 1
                return
            }
        }
        waiting.append(contentsOf: passed)
    }

    // MARK: Into the list

    /// Puts some items into the list; false: all are in it.
    private func putSome() -> Bool {
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
        let revision = domain.sequence
        list.put(items.lazy.filter { !self.touched.contains($0.id) }.map { ($0, revision) })
    }

    private func piece(_ number: Int, of items: ItemList) -> [Item] {
        let start = number * Self.piece
        return (start..<min(start + Self.piece, items.count)).compactMap(items.item)
    }
}

// MARK: From a load, or from a component that is attached

extension ListFilling {
    /// Passes on what a load has found, and takes over the list that it has filled or makes another.
    func run(_ items: ItemList, then done: @escaping () -> Void) {
        loaded = items
        begin()
        let count = isBegun ? (items.count + Self.piece - 1) / Self.piece : 0
        var next = 0
        domain.inSlices { [self] in
            guard isWanted else { return false }
            guard next < count else { return putSome() }
            pass(piece(next, of: items))
            next += 1
            return true
        } then: { [self] in
            guard isWanted else { return done() }
            if isSame, isBegun {
                container.fillings[slot.name] = nil
                container.takeLoadedList(of: slot)
                return done()
            }
            container.dropLoadedList(of: slot)
            end(then: done)
        }
    }

    /// Asks the component for all items, once its own state is what is committed.
    fileprivate func ask() {
        isUnasked = true
        container.gate([slot.name]) { [self] in
            // What is told is of now: others need not wait for the rest.
            defer { container.open([slot.name]) }
            guard isWanted, slot.isAttached else { return forget() }
            begin()
            guard isBegun else {
                forget()
                return container.itemsChanged(in: slot)
            }
            askMore(anew: true)
        }
    }

    /// Asks for the next items; those are in the list before more are asked for.
    private func askMore(anew: Bool) {
        guard isWanted, let port = slot.port else { return forget() }
        port.tellState(anew: anew) { [self] result in
            // One that died is made anew, and then loaded.
            guard isWanted, case .success(let part) = result else { return forget() }
            var (events, items) = (part.events[...], [Item]()[...])
            domain.inSlices { [self] in
                guard isWanted else { return false }
                if !items.isEmpty {
                    pass(fitting(items.prefix(Self.piece)))
                    items = items.dropFirst(Self.piece)
                    return true
                }
                switch events.popFirst() {
                case .contents(.replaceAll): isTold = true
                case .contents(.insert(let told)): items = told[...]
                case nil: return putSome()
                default: break
                }
                return true
            } then: { [self] in
                guard part.isLast else { return askMore(anew: false) }
                guard !isTold else { return end {} }
                // Its source is loading again: it tells later what there is, and the list of before stays.
                forget()
                if isOutdated { container.refill(slot) }
            }
        }
    }

    /// Items without those that don't fit the fields.
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
            forget()
            return done()
        }
        // To its end in any case: whoever waits for this goes on.
        let isWaiting = { true }
        container.fillDerived(list, while: isWaiting) { [self] in
            if isWanted { show() } else { forget() }
            done()
        }
    }

    private func show() {
        container.fillings[slot.name] = nil
        slot.own.contents?.show(list)
        container.forget(list)
        // What did not fit in a load was noted by that.
        if isUnasked { noteUnfit() }
        container.structureChanged()
        container.growOrders(of: list)
        if isUnasked { container.itemsChanged(in: slot) }
        if isOutdated { container.refill(slot) }
    }

    private func noteUnfit() {
        slot.own.contents?.note(unfit)
        guard let problem = unfit.problem(in: list, FieldChecker(fields: slot.fields)) else {
            return
        }
        domain.logger.warning(
            "items don't fit the fields", metadata: slot.logFields(["reason": "It \(problem)."]))
    }

    /// It is not wanted any more, or nothing was passed on.
    private func forget() {
        container.forget(list)
        if container.fillings[slot.name] === self { container.fillings[slot.name] = nil }
    }
}

extension Container {
    /// Asks a contents component for all its items, which are other ones, and shows them together.
    func refill(_ slot: Slot) {
        guard slot.isAttached, slot.kind == .contents else { return }
        if let asked = slot.asked { return asked.askAgain() }
        if let filling = fillings[slot.name], filling.isWanted { return filling.outdate() }
        let filling = ListFilling(of: slot, in: self)
        fillings[slot.name] = filling
        filling.ask()
    }
}
