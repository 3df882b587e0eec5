import AtriumKit
import DequeModule
import Index
import NIOCore

/// Brings a container's screens up to date with what happened.
///
/// A commit marks the views and focuses that it affects. They are updated one after the other, in slices, and the
/// readers of those that changed are woken. Commits that arrive meanwhile are handled together. If a commit moves an
/// item in which screens stand, it also moves their view or focus, and then the screens one by one. A screen that is
/// read before its turn is moved, and its view and focus are updated, at once: a revision always shows one moment, and
/// a commit is never split between two. If very many views and focuses stand in an item, these are moved in slices
/// too.
final class ScreenUpdates {
    private unowned let screens: ContainerScreens
    private let container: Container
    private let table: ScreenTable
    private let placement: ItemPlacement

    /// Increased by every change: a view or focus with this version is up to date.
    private var version: UInt64 = 1
    /// Changes with the components, their order and their state.
    private(set) var structure: UInt64 = 1
    /// The number of commits.
    private(set) var commits = 0
    /// Whether something changed that has not been processed.
    private var isDirty = false
    /// Whether screens are being updated, now or in a later turn.
    private(set) var isFollowing = false
    /// The number of times that a view was updated.
    private(set) var visits = 0

    /// The state for which views were last marked.
    private var seen = Seen()
    /// A number for what the filters components offer, as of a version.
    private var known: (version: UInt64, offers: UInt64?)?

    /// The views and focuses to be updated.
    private var staleViews = OnceQueue<SharedView>(for: .update)
    private var staleFocuses = OnceQueue<SharedFocus>(for: .update)
    /// The screens to be moved.
    private var strays: Deque<Screen> = []
    /// The screens whose readers are to be woken.
    private var woken = OnceQueue<Screen>(for: .waking)
    /// The screens whose next revision waits for a component's answer.
    private var blocked: [ScreenID: Screen] = [:]

    /// The state whose change affects all views.
    private struct Seen: Equatable {
        var structure: UInt64 = 0
        var offers: UInt64?
        /// Whether each list has only items without parents.
        var flat: [Bool] = []
    }

    init(of screens: ContainerScreens) {
        self.screens = screens
        container = screens.container
        table = screens.table
        placement = screens.placement
    }

    private var domain: Domain { container.domain }

    /// Whether screens show all changes.
    var isIdle: Bool { !isDirty && !isFollowing }
}

// MARK: Changes

extension ScreenUpdates {
    /// Something that screens show has changed: they are updated before anything is sent.
    func changed() {
        version += 1
        guard !isDirty else { return }
        isDirty = true
        domain.commits.flushLater(screens)
    }

    /// Counts a change of the components; ``changed()`` follows once all that depends on them is marked.
    func structureChanged() { structure += 1 }

    /// A commit is in the lists: if it is the last one that has arrived, screens are updated.
    func committed() {
        commits += 1
        guard !table.screens.isEmpty else {
            version += 1
            return
        }
        changed()
        placement.followTree()
        // Few are moved at once, so that no screen still stands in a removed item when the next commit adds it again.
        var room = Slices.much
        while room > 0, placement.relocateNext() { room -= 1 }
        if !domain.commits.hasArrivals { flush() }
    }

    func markStale(_ view: SharedView) { if staleViews.append(view) { schedule() } }

    func markStale(_ focus: SharedFocus) { if staleFocuses.append(focus) { schedule() } }

    /// Marks screens whose view or focus has moved: they follow one by one, or when they are read.
    func moveAlong(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        strays += screens
        schedule()
    }

    /// Marks screens whose readers are to be woken, after an answer or a ballot that only they show.
    func touch(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        for screen in screens { woken.append(screen) }
        changed()
    }

    /// Schedules an update for everything that is marked.
    func schedule() { if isIdle { changed() } }

    /// Marks a screen as waiting for a component's answer.
    func block(_ screen: Screen) { blocked[screen.id] = screen }

    /// Marks a screen as no longer waiting.
    func unblock(_ screen: Screen) { blocked[screen.id] = nil }
}

// MARK: Updates

extension ScreenUpdates {
    /// Updates views and focuses, and wakes the readers of those that changed.
    func flush() {
        guard isDirty, !isFollowing else { return }
        isFollowing = true
        guard !domain.slices.isSpent else { return followInSlices() }
        // Most commits affect few screens: these are updated before the commit's reply.
        let end = NIODeadline.now() + .milliseconds(1)
        while follow() {
            guard NIODeadline.now() >= end else { continue }
            domain.slices.delay()
            return followInSlices()
        }
        endFollowing()
    }

    private func followInSlices() {
        domain.slices.run { [screens] in
            screens.updates.follow()
        } then: { [screens] in
            screens.updates.endFollowing()
        }
    }

    private func endFollowing() {
        isFollowing = false
        screens.answers.clear()
    }

    /// Does the next small step; false: all screens are up to date and their readers woken.
    private func follow() -> Bool {
        if isDirty {
            isDirty = false
            placement.followTree()
            findOutdated()
        } else if placement.relocateNext() {
            // This marks the affected screens, one by one.
        } else if container.slots.contains(where: { $0.list?.live.follow() ?? false }) {
            // The lists marked the affected views.
        } else if let screen = strays.popFirst() {
            placement.follow(screen)
            screen.touched()
        } else if let screen = woken.popFirst() {
            screen.touched()
        } else if let focus = staleFocuses.popFirst() {
            visit(focus)
        } else if let view = staleViews.popFirst() {
            visit(view)
        } else {
            return false
        }
        return true
    }

    /// Marks all views, if something changed that affects each of them.
    private func findOutdated() {
        let now = Seen(
            structure: structure, offers: offers,
            flat: container.slots.compactMap { $0.list?.tree.isFlat })
        guard now != seen else { return }
        let before = seen
        seen = now
        if before.structure != now.structure {
            // The components for which these screens wait may have been removed.
            for screen in blocked.values { woken.append(screen) }
            blocked.removeAll()
        }
        let isOfFilters = before.structure == now.structure && before.flat == now.flat
        for view in screens.shared.views.values where !isOfFilters || view.dependsOnOffers {
            markStale(view)
        }
    }

    /// A number that changes when the filters components may offer something else.
    ///
    /// It is nil while one of them does not answer.
    var offers: UInt64? {
        if let known, known.version == version { return known.offers }
        let offers = presentOffers
        known = (version, offers)
        return offers
    }

    private var presentOffers: UInt64? {
        let limit = domain.limits.facetValues
        var version = structure &* 31 &+ UInt64(limit)
        version = version &* 31 &+ container.dates.version
        for slot in container.slots where slot.kind == .filters {
            guard slot.isAttached, let port = slot.port else { return nil }
            for list in container.slots.lazy.compactMap(\.list) {
                version =
                    version &* 31 &+ list.values.version(of: port.observedFields, atMost: limit)
            }
        }
        return version
    }

    /// Updates what a screen shows, before it is read.
    func catchUp(_ screen: Screen) {
        // An item in which it stands may have moved.
        if isDirty { placement.followTree() }
        placement.relocate(screen)
        if let view = screen.view, let focus = screen.focus { catchUp(view, focus) }
    }

    /// Updates a view and a focus before they are shown.
    func catchUp(_ view: SharedView, _ focus: SharedFocus) {
        if view.version != version { visit(view) }
        if focus.version != version { visit(focus) }
    }

    private func visit(_ view: SharedView) {
        placement.relocateIfMarked(view)
        visits += 1
        if view.advance(to: version) { wake(view.screens.values) }
    }

    private func visit(_ focus: SharedFocus) {
        placement.relocateIfMarked(focus)
        if focus.advance(to: version) { wake(focus.screens.values) }
    }

    private func wake(_ screens: some Collection<Screen>) {
        guard !screens.isEmpty else { return }
        for screen in screens { woken.append(screen) }
        schedule()
    }
}
