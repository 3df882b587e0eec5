import AtriumKit
import DequeModule
import Logging

extension ContainerScreens {
    /// The filters that users select on the screens.
    public var filters: FilterChoices { FilterChoices(screens: self) }
}

/// The selection of filters on a container's screens.
///
/// A filters component answers a choice with the new selection, which is then shown as the delegate decides.
public struct FilterChoices {
    let screens: ContainerScreens

    private var container: Container { screens.container }

    /// Selects a filter.
    public func select(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .select(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Deselects a filter.
    public func deselect(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .deselect(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Clears the selection.
    public func clear(_ screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen, nil, { .clear($0, screen: screen.id.text) }, reply)
    }

    /// Requests the new selection from the section's filters component, and shows it as the container's delegate
    /// decides.
    private func choose(
        _ screen: Screen, _ filter: ComponentQuery.FilterID?,
        _ query: @escaping (Selection) -> ComponentQuery, _ reply: @escaping Answer<Int>
    ) {
        if let filter {
            do throws(HostError) {
                try container.domain.limits.check(section: filter.section, filter: filter.filter)
            } catch {
                return reply(.failure(error))
            }
        }
        screens.choosing.queue(on: screen, reply) { [self] done in
            findComponent(of: filter?.section) { [self] result in
                switch result {
                case .failure(let error): done(.failure(error))
                case .success(let slot):
                    ask(slot, query(screen.choices.view.selection), screen, done)
                }
            }
        }
    }

    private func ask(
        _ slot: Slot, _ query: ComponentQuery, _ screen: Screen, _ done: @escaping Answer<Int>
    ) {
        let before = screen.choices.view.selection
        container.filters.report(to: slot) { [self] in
            slot.requests.ask(query, for: slot, isOfScreen: true) { [self] result in
                switch result {
                case .success(.selection(let selection, let events)):
                    // The delegate's message is sent with the revision that shows the choices.
                    let deferral = screen.deferMessages()
                    // Where it was not selected, nothing was deselected: its delegate has nothing to say of it.
                    let isIdle = if case .deselect = query { selection == before } else { false }
                    if !isIdle { notifyDelegates(of: events, from: slot) }
                    var choices = screens.placement.choices(of: screen)
                    choices.view.selection = selection
                    screens.choosing.propose(choices, on: screen) { result in
                        screen.endDeferral(deferral)
                        done(result)
                    }
                case .success: done(.failure(.wrongAnswer(of: slot.name)))
                case .failure(let error): container.filters.explain(error, slot, done)
                }
            }
        }
    }

    /// Finds the filters component that has a section; nil: the first one.
    private func findComponent(of section: String?, _ done: @escaping Answer<Slot>) {
        let candidates = container.filters.slots
        guard let first = candidates.first else {
            return done(
                .failure(.filterNotFound(section: section ?? "", filter: "", known: [])))
        }
        guard let section, candidates.count > 1 else { return done(.success(first)) }
        find(section, in: candidates[...], otherwise: first, done)
    }

    private func find(
        _ section: String, in slots: ArraySlice<Slot>, otherwise first: Slot,
        _ done: @escaping Answer<Slot>
    ) {
        // If none has the section, the first one's error lists the known sections.
        guard let slot = slots.first else { return done(.success(first)) }
        slot.requests.ask(.sections, for: slot, isOfScreen: true) { [self] result in
            if case .success(.sections(let sections)) = result,
                sections.contains(where: { $0.id == section })
            {
                return done(.success(slot))
            }
            find(section, in: slots.dropFirst(), otherwise: first, done)
        }
    }
}

// MARK: Selections and delegates

extension FilterChoices {
    /// Calls the delegate of the scope that each event's screen shows; the container's own if there is no such screen.
    fileprivate func notifyDelegates(of events: [ComponentEvent], from slot: Slot) {
        guard let from = slot.reference else { return }
        for event in events {
            let screen = event.screen.flatMap { screens.table.find($0, on: screens) }
            let found =
                screen.map { screens.delegation.delegate(on: $0) } ?? .success(container.delegate)
            guard case .success(let delegate) = found else { continue }
            let crash = container.delegates.crashText(in: screen?.choices.view.scope)
            container.domain.notes.crash.during(crash) { delegate.notify(event, from: from) }
        }
    }
}

extension ContainerScreens {
    func selected(_ events: [ComponentEvent], by slot: Slot) {
        let found = events.compactMap { event in
            event.screen.flatMap { table.find($0, on: self) }.map {
                (screen: $0, selection: event.selection, deferral: $0.deferMessages())
            }
        }
        filters.notifyDelegates(of: events, from: slot)
        for (screen, selection, deferral) in found {
            choosing.choose(screen) {
                $0.view.selection = selection
            } then: { _ in
                screen.endDeferral(deferral)
            }
        }
    }
}

extension ComponentEvent {
    /// The selection on its screen from now on.
    fileprivate var selection: Selection {
        switch self {
        case .didSelect(_, _, let now, _), .didDeselect(_, _, let now, _): now
        default: Selection()
        }
    }
}

extension ContainerDelegate {
    /// Passes an event about a selection to the delegate.
    fileprivate func notify(_ event: ComponentEvent, from component: ComponentReference) {
        switch event {
        case .didSelect(let filter, let section, let selection, let screen):
            filters(component, didSelect: filter, in: section, now: selection, on: screen)
        case .didDeselect(let filter, let section, let selection, let screen):
            filters(component, didDeselect: filter, in: section, now: selection, on: screen)
        case .didClear(let screen): filters(component, didClearOn: screen)
        default: break
        }
    }
}

// MARK: Filters that are gone

extension FilterChoices {
    /// Removes a filter that no longer exists from the screens that had selected it.
    func drop(_ filter: String, in section: String, from view: SharedView) {
        let gone = ComponentQuery.FilterID(section: section, filter: filter)
        var screens = Array(view.screens.values)
        container.domain.slices.run { [self] in
            guard let screen = screens.popLast() else { return false }
            drop([gone], on: screen)
            return true
        } then: {
        }
    }

    private func drop(_ gone: [ComponentQuery.FilterID], on screen: Screen) {
        screens.choosing.change(screen) { choices in
            for id in gone { choices.view.selection[id.section].removeAll { $0 == id.filter } }
        } then: { [self] result in
            // If several filters are gone, each is reported separately.
            guard case .failure(.filterNotFound(let section, let filter, _, _)) = result else {
                return
            }
            let next = ComponentQuery.FilterID(section: section, filter: filter)
            if !gone.contains(next) { drop(gone + [next], on: screen) }
        }
    }
}

// MARK: - The steps of every choice

extension ContainerScreens {
    /// The choices that are made on the screens.
    var choosing: ScreenChoosing { ScreenChoosing(screens: self) }
}

/// The steps of a choice on one of a container's screens, from its turn to the revision that shows it.
///
/// Choices on a screen and its parts run one after the other. The delegate decides what to show, the view is prepared,
/// and shown together with the parts that follow it. If a step fails, the screen stays as it was. The reply is sent
/// once the revision that shows the choice is on its way.
struct ScreenChoosing {
    /// The number of rows from which a view is found in one turn of the loop, and sent in a later one.
    private static let manyRows = 256

    let screens: ContainerScreens

    private var container: Container { screens.container }
    private var domain: Domain { screens.container.domain }
    private var placement: ItemPlacement { screens.placement }
}

// MARK: In its turn

extension ScreenChoosing {
    /// Changes a screen's choices once what they show is ready, or not at all.
    ///
    /// The reply is the revision that shows them, once it is on its way.
    func change(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(on: screen, done) { [self] done in
            var choices = placement.choices(of: screen)
            edit(&choices)
            prepare(screen, for: choices) { [self] in show($0, on: screen, done) }
        }
    }

    /// Does the same as ``change(_:_:then:)`` for a user's choices, as the delegate of the scope decides.
    func choose(
        _ screen: Screen, _ edit: @escaping (inout Screen.Choices) -> Void,
        then done: @escaping Answer<Int>
    ) {
        queue(on: screen, done) { [self] done in
            var choices = placement.choices(of: screen)
            edit(&choices)
            propose(choices, on: screen, done)
        }
    }

    /// Runs a user's task after those before it; fails with `screenNotFound` if the screen has ended by then.
    ///
    /// The findings of the task would otherwise depend on tasks before it that failed for this reason.
    func queue<Outcome>(
        on screen: Screen, _ reply: @escaping Answer<Outcome>,
        _ task: @escaping (@escaping Answer<Outcome>) -> Void
    ) {
        screen.queue { [self] finished in
            let done: Answer<Outcome> = { result in
                reply(result)
                finished()
            }
            guard screens.table.isOpen(screen) else {
                return done(.failure(.screenNotFound(screen.root.id.text)))
            }
            task(done)
        }
    }
}

// MARK: What is shown

extension ScreenChoosing {
    /// Shows what a user chose, as the delegate of the scope decides; call it in the screen's turn.
    func propose(_ chosen: Screen.Choices, on screen: Screen, _ done: @escaping Answer<Int>) {
        decide(chosen, on: screen) { [self] prepared in
            show(prepared, on: screen) { [self] result in
                if case .success = result, screen.partState != nil {
                    screens.delegation.notifyOuterDelegates(screen) { delegate, outer, path in
                        delegate.screen(outer, part: path, didShow: screen.choices.asSeen)
                    }
                }
                done(result)
            }
        }
    }

    /// Prepares what a user chose on a screen or a part, as the delegate of the scope decides.
    func decide(
        _ chosen: Screen.Choices, on screen: Screen, _ done: @escaping Answer<PreparedView>
    ) {
        var next = chosen.inScope(of: container)
        let delegate: ContainerDelegate
        switch container.delegate(in: next.view.scope) {
        case .success(let found): delegate = found
        case .failure(let error): return done(.failure(error))
        }
        // The default delegate returns what the user chose.
        guard type(of: delegate) != ContainerDelegate.self else {
            return prepare(screen, for: next, done)
        }
        let deferral = screen.deferMessages()
        let answered: Answer<PreparedView> = { result in
            done(result)
            screen.endDeferral(deferral)
        }
        let asked = next.choicesSeen()
        let crash = container.delegates.crashText(in: next.view.scope)
        let answer = domain.notes.crash.during(crash) {
            delegate.screen(
                ScreenReference(id: screen.id.text, actor: domain.intern(screen.agent)),
                willShow: asked,
                after: screen.view == nil ? nil : screen.choices.asSeen)
        }
        guard answer != asked else { return prepare(screen, for: next, answered) }
        screens.delegation.prepare(answer, instead: next, on: screen, then: answered) {
            [self, next] problem in
            screens.delegation.logRefused(
                "a delegate's choices are invalid; the user's choices are shown", next,
                problem)
            prepare(screen, for: next, answered)
        }
    }

    /// Prepares what a screen should show; a view that others already show is shared.
    func prepare(
        _ screen: Screen, for chosen: Screen.Choices, _ done: @escaping Answer<PreparedView>
    ) {
        var choices = chosen.inScope(of: container)
        do throws(HostError) {
            let view = choices.view
            try domain.limits.check(page: view.limit)
            for limit in view.limits.values { try domain.limits.check(page: limit) }
            try domain.limits.check(
                search: view.search, sort: view.sort, selection: view.selection)
        } catch {
            return done(.failure(error))
        }
        placement.followTree()
        let path = placement.present(choices.view.path, in: choices.view.scope)
        if path != choices.view.path { choices.view.path = path }
        let known = screens.shared[choices.view]
        let wanted = known ?? SharedView(choices.view, on: screens)
        let isTyped = screen.view != nil && choices.view.search != screen.choices.view.search
        if known == nil { wanted.isTyped = isTyped } else { wanted.retryAnswers(isTyped: isTyped) }
        placement.insert(wanted)
        let isMade = wanted.isReady
        wanted.whenReady(for: screen.account.owner, as: screen.agent) { [self] error in
            let prepared = PreparedView(
                home: screens, screen: screen, choices: choices, view: wanted)
            if let error {
                prepared.discard()
                return done(.failure(error))
            }
            guard !isMade, wanted.rowCount > Self.manyRows else { return done(.success(prepared)) }
            // Finding this many rows takes a large part of a turn, so encoding them runs in another.
            domain.timers.afterPoll { done(.success(prepared)) }
        }
    }

    /// Shows what was prepared for a screen, together with the parts that follow it.
    func show(
        _ prepared: Result<PreparedView, HostError>, on screen: Screen,
        _ done: @escaping Answer<Int>
    ) {
        switch prepared {
        case .failure(let error): done(.failure(error))
        case .success(let prepared):
            guard !container.parts.isEmpty else { return show([prepared], on: screen.root, done) }
            ScreenTurn(of: screen.root, in: domain) { [self] all in
                show(all, on: screen.root, done)
            }.begin(with: prepared)
        }
    }

    /// Shows what was prepared, on a screen and its parts together.
    func show(_ prepared: [PreparedView], on root: Screen, _ done: @escaping Answer<Int>) {
        // If the screen was closed meanwhile, nothing is shown.
        let isThere = screens.table.isOpen(root)
        let left = prepared.filter { isThere && !$0.screen.isEnded }
        for shown in prepared where !isThere || shown.screen.isEnded { shown.discard() }
        guard isThere, !left.isEmpty || prepared.isEmpty else {
            return done(.failure(.screenNotFound(root.id.text)))
        }
        let all = left.map { $0.updated() }
        if let error = screens.table.detached.evict(for: root, all) {
            for (shown, _) in all { shown.discard() }
            return done(.failure(error))
        }
        for (shown, focus) in all {
            // Making room may have ended the last other screen of the view.
            shown.home.placement.insert(shown.view)
            shown.home.shared.insert(focus)
            shown.screen.show(shown.choices, shown.view, focus)
        }
        screens.table.changed(root)
        root.whenOnItsWay { done(.success($0)) }
    }
}

/// The view that a screen or a part will show.
struct PreparedView {
    let home: ContainerScreens
    let screen: Screen
    var choices: Screen.Choices
    var view: SharedView

    /// Removes the view, unless a screen shows it.
    func discard() { home.shared.removeUnused(view) }
}

extension PreparedView {
    /// Brings it up to date: items may have been added or removed since it was prepared.
    fileprivate func updated() -> (shown: PreparedView, focus: SharedFocus) {
        var shown = self
        let placement = home.placement
        placement.relocateIfMarked(view)
        shown.view = placement.registered(view)
        if shown.view !== view { discard() }
        shown.choices.share(shown.view.key)
        let subject = placement.present(shown.choices.subject)
        if subject != shown.choices.subject { shown.choices.subject = subject }
        let key = FocusKey(shown.choices, in: home.container)
        let focus = home.shared[key] ?? SharedFocus(key, on: home)
        // From here on, answers refer to what is shown.
        home.updates.catchUp(shown.view, focus)
        return (shown, focus)
    }
}

extension Screen.Choices {
    /// The choices, with the container's first scope if theirs does not exist.
    func inScope(of container: Container) -> Screen.Choices {
        let scope = container.scopes[view.scope]?.name
        guard scope != view.scope else { return self }
        var choices = self
        choices.view.go(to: scope)
        return choices
    }
}

/// The choices that are made on a screen and its parts, one after the other.
final class ScreenTasks {
    /// A task calls `finished` when it is done, at once or later.
    typealias Task = (_ finished: @escaping () -> Void) -> Void

    private static let mostEdits = 64

    private var tasks: Deque<Task> = []
    /// Whether a task has begun and not finished.
    private var isBusy = false
    private var isGoingOn = false
    /// How many changes by the screen's delegate wait for their turn.
    private var edits = 0

    /// Runs a task after those before it.
    func add(_ task: @escaping Task) {
        tasks.append(task)
        runNext()
    }

    /// Runs the next task; tasks that finish at once are run in a loop, not recursively.
    private func runNext() {
        guard !isGoingOn else { return }
        isGoingOn = true
        while !isBusy, let task = tasks.popFirst() {
            isBusy = true
            task { [self] in
                isBusy = false
                runNext()
            }
        }
        isGoingOn = false
    }

    /// Registers a change by the screen's delegate that waits for its turn; returns false if too many wait.
    func awaitEdit() -> Bool {
        guard edits < Self.mostEdits else { return false }
        edits += 1
        return true
    }

    /// Ends such a change.
    func endEdit() { edits -= 1 }
}
