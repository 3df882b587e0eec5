import AtriumKit
import Index

/// Keeps a container's screens at the same items while the trees of items change.
///
/// A change of the lists marks the views and focuses whose items were added, removed or moved; if it is unknown which
/// items these are, it marks all. A marked view or focus is placed in slices, or when one of its screens is read: it
/// moves to where its items lie now. If its item is gone, a view moves to the innermost ancestor that exists, and a
/// focus to the container. The screens of what has moved follow one by one, or when they are read.
final class ItemPlacement {
    private unowned let screens: ContainerScreens
    private let container: Container
    private let shared: ViewTable
    private let paths: ItemPaths

    /// The views and focuses to be placed.
    private(set) var markedViews = OnceQueue<SharedView>(for: .placement)
    private(set) var markedFocuses = OnceQueue<SharedFocus>(for: .placement)
    /// The views among them for which it is unknown which of their items have children.
    private var uncounted: Set<ObjectIdentifier> = []
    /// The state of the trees of items for which views and focuses were last marked.
    private var tree: (version: UInt64, structure: UInt64) = (0, 0)
    /// The items that were just found to be in no list.
    private var gone: Set<String> = []
    /// The items among them whose views and focuses were marked, until all of these have been placed.
    private var left: Set<String> = []
    /// The number of times that a view or a focus was placed.
    private(set) var relocations = 0
    /// The number of times that a screen was moved.
    private(set) var moves = 0

    init(of screens: ContainerScreens) {
        self.screens = screens
        container = screens.container
        shared = screens.shared
        paths = screens.paths
    }

    /// Registers a view for all screens with its choices.
    func insert(_ view: SharedView) { shared.insert(view, under: paths.ancestors(of: view.key)) }

    /// The registered view with the same choices if that is ready, else this one.
    func registered(_ view: SharedView) -> SharedView {
        let other = shared[view.key]
        if other === view { return view }
        if let other, other.isReady { return other }
        insert(view)
        screens.updates.changed()
        return view
    }

    /// A screen's choices with the present path of its items, even if the screen has not been moved yet.
    func choices(of screen: Screen) -> Screen.Choices {
        followTree()
        relocate(screen)
        return screen.choices
    }
}

// MARK: Changes of the trees

extension ItemPlacement {
    /// Takes items that are in no list any more, whether or not a list had them.
    func itemsRemoved(_ items: Set<String>) {
        let left = items.filter { shared.isInUse($0) && !container.has($0) }
        guard !left.isEmpty else { return }
        gone.formUnion(left)
        screens.updates.changed()
    }

    /// Marks the views and focuses whose items were added, removed or moved.
    func followTree() {
        let structure = screens.updates.structure
        let version = container.slots.lazy.compactMap(\.list).reduce(structure) {
            $0 &* 31 &+ $1.tree.version
        }
        guard tree.version != version || !gone.isEmpty else { return }
        let isKnown = markMoved()
        if !isKnown { markAll() }
        tree = (version, structure)
        clearLeft()
    }

    /// Marks the views and focuses whose items moved; returns whether it is known which items did.
    private func markMoved() -> Bool {
        var isKnown = tree.structure == screens.updates.structure
        let asks = container.slots.contains(where: \.asks)
        let gone = gone
        self.gone = []
        left.formUnion(gone)
        for item in gone { mark(item) }
        for list in container.slots.lazy.compactMap(\.list) {
            guard let moved = list.tree.takeMoved() else {
                isKnown = false
                continue
            }
            recount(moved.parents)
            for item in moved.items {
                // A source keeps items on which screens stand, so a missing one was removed.
                if asks, !container.has(item) { left.insert(item) }
                mark(item)
            }
        }
        return isKnown
    }

    private func markAll() {
        for view in shared.views.values {
            uncounted.insert(ObjectIdentifier(view))
            mark(view)
        }
        for found in shared.standing.values { for view in found.values { mark(view) } }
        for found in shared.focuses.values { for focus in found.values { mark(focus) } }
    }

    private func mark(_ item: String) {
        for view in (shared.standing[item] ?? [:]).values { mark(view) }
        for focus in (shared.focuses[.item(item)] ?? [:]).values { mark(focus) }
    }

    private func mark(_ view: SharedView) {
        if markedViews.append(view) { screens.updates.schedule() }
    }

    private func mark(_ focus: SharedFocus) {
        if markedFocuses.append(focus) { screens.updates.schedule() }
    }

    /// Updates the numbers of children after items were added under or removed from these parents.
    private func recount(_ parents: Set<String>) {
        for list in container.slots.lazy.compactMap(\.list) {
            for parent in parents {
                list.live.visitHolders(knowing: parent) { ($0 as? SharedView)?.recount() }
            }
        }
    }
}

// MARK: Moving what is marked

extension ItemPlacement {
    /// Places the next marked view or focus; false: none is marked.
    func relocateNext() -> Bool {
        guard !markedViews.isEmpty || !markedFocuses.isEmpty else { return false }
        if let view = markedViews.popFirst() {
            relocate(view)
        } else if let focus = markedFocuses.popFirst() {
            relocate(focus)
        }
        clearLeft()
        return true
    }

    private func clearLeft() {
        guard markedViews.isEmpty, markedFocuses.isEmpty else { return }
        left = []
    }

    /// Places a view if it is marked.
    func relocateIfMarked(_ view: SharedView) { if markedViews.remove(view) { relocate(view) } }

    /// Places a focus if it is marked.
    func relocateIfMarked(_ focus: SharedFocus) {
        if markedFocuses.remove(focus) { relocate(focus) }
    }

    /// Places what a screen shows, and moves the screen with it.
    func relocate(_ screen: Screen) {
        guard let view = screen.view, let focus = screen.focus else { return }
        relocateIfMarked(view)
        relocateIfMarked(focus)
        if isBehind(screen, view, focus) { follow(screen) }
    }

    /// Moves a view to the present path of its items, or back from removed ones; its screens follow in slices.
    private func relocate(_ view: SharedView) {
        let isCounted = uncounted.remove(ObjectIdentifier(view)) == nil
        // It may have no screens any more.
        guard shared.has(view) else { return }
        relocations += 1
        if !isCounted {
            let hasChildren = container.slots.contains { $0.list?.tree.hasChildren ?? false }
            if hasChildren || view.showsChildren { view.recount() }
        }
        guard !view.key.path.isEmpty else { return }
        let path = present(view.key.path, in: view.key.scope)
        if path != view.key.path {
            move(view, to: path)
        } else {
            shared.register(view, under: paths.ancestors(of: view.key))
        }
    }

    /// Does the same as ``relocate(_:)`` for a focus.
    private func relocate(_ focus: SharedFocus) {
        guard shared[focus.key] === focus else { return }
        relocations += 1
        let subject = present(focus.key.subject)
        if subject != focus.key.subject {
            move(focus, to: subject)
        } else {
            screens.updates.markStale(focus)
        }
    }

    private func move(_ view: SharedView, to path: [ViewKey.PathItem]) {
        shared.remove(view)
        view.move(to: path)
        let next = registered(view)
        screens.updates.markStale(next)
        // It stays registered until its screens have left it.
        if next !== view { shared.register(view, under: paths.ancestors(of: view.key)) }
        screens.updates.moveAlong(view.screens.values)
    }

    private func move(_ focus: SharedFocus, to subject: Subject) {
        guard !focus.screens.isEmpty else { return }
        shared.remove(focus)
        focus.move(to: subject)
        screens.updates.moveAlong(focus.screens.values)
    }

    /// Whether a screen's view or focus has moved since the screen was last moved.
    private func isBehind(_ screen: Screen, _ view: SharedView, _ focus: SharedFocus) -> Bool {
        focus.goal != nil || screen.choices.view.path != view.key.path
    }

    /// Moves a screen to where its view and focus have moved.
    func follow(_ screen: Screen) {
        guard !screen.isEnded, let old = screen.view, let before = screen.focus else { return }
        moves += 1
        let view = registered(old)
        var choices = screen.choices
        // They differ only in the path.
        choices.share(view.key)
        if let goal = before.goal { choices.subject = goal }
        var key = before.key
        key.subject = choices.subject
        let focus = before.goal == nil ? before : shared[key] ?? SharedFocus(key, on: screens)
        guard view !== old || focus !== before || isBehind(screen, old, before) else { return }
        shared.insert(focus)
        screen.show(choices, view, focus)
        screens.table.changed(screen.root)
    }
}

// MARK: Present paths

extension ItemPlacement {
    /// The present path of screens that had this one.
    ///
    /// They stay with the same item, wherever it lies now; if it is gone, with its innermost ancestor that exists.
    func present(_ path: [ViewKey.PathItem], in scope: String?) -> [ViewKey.PathItem] {
        guard let component = path.last?.component else { return [] }
        let (scope, limit) = (container.scopes[scope], container.domain.limits.screenPlaces)
        let isByMode = paths.isByMode(scope)
        let lists = container.scopes.lists(in: scope).filter { isByMode || $0.name == component }
        for entered in path.reversed() {
            if let slot = container.scopes.source(of: entered.item, among: lists) {
                let now = paths.path(
                    to: entered.item, of: slot, among: isByMode ? lists : nil, limit: limit)
                return continued(now, after: path, lists).suffix(limit)
            }
            // Screens stay while it is unknown whether the list has the item.
            if isAwaiting(entered, lists) { return path }
        }
        return []
    }

    /// The present subject for screens that were focused on this one: the container, if the item is gone.
    func present(_ subject: Subject) -> Subject {
        guard let item = subject.item, !container.has(item) else { return subject }
        let mayBeThere = container.slots.contains { $0.kind == .contents && mayHave(item, $0) }
        return mayBeThere ? subject : .container
    }

    /// Completes a path with the items before it, while it is unknown whether its first item's parent exists.
    private func continued(
        _ path: [ViewKey.PathItem], after before: [ViewKey.PathItem], _ lists: [Slot]
    ) -> [ViewKey.PathItem] {
        guard let first = path.first,
            let parent = container.slot(first.component)?.list?.tree.parent(of: first.item),
            let end = before.firstIndex(where: { $0.item == parent }),
            container.scopes.source(of: parent, among: lists) == nil, isAwaiting(before[end], lists)
        else { return path }
        return before[...end] + path
    }

    /// Whether it is unknown if the list has the item in which a screen stood.
    private func isAwaiting(_ entered: ViewKey.PathItem, _ lists: [Slot]) -> Bool {
        lists.contains { $0.name == entered.component && mayHave(entered.item, $0) }
    }

    /// Whether a list may have an item that is not in it yet.
    ///
    /// Its items are not known, or its source was not asked for that item.
    private func mayHave(_ item: String, _ slot: Slot) -> Bool {
        slot.list == nil || slot.own.awaitsItems
            || slot.asks && !gone.contains(item) && !left.contains(item)
    }
}
