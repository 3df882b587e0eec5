import AtriumKit
import Index

/// The content of screens with the same choices; its lists are kept up to date once for all of them.
///
/// Filters are resolved when the view is made, and again when their component may offer something else; not at each
/// commit.
final class SharedView: Queueable {
    private(set) var key: ViewKey
    private(set) var state: ViewState { didSet { payer.show(state) } }
    private var payer = Payer<ViewState>()
    private(set) var screens: [ScreenID: Screen] = [:]
    /// The current snapshots of its screens.
    var snapshots = SnapshotTable()
    /// The version of its last update.
    private(set) var version: UInt64 = 0
    /// Whether a user may still be typing the search: sources are then asked a little later.
    var isTyped = false
    var queueMarks = QueueMarks()

    /// Refers to it until its last screen has left, or the choice for which it is prepared has ended.
    private let home: ContainerScreens
    private var sections: [ResolvedSection] = []
    private var lists: [LiveList] = []
    /// The lists that are left out because they are empty.
    private var empty: Set<String> = []
    /// The counts from which ``ViewState/sections`` were made.
    private var counts: [[Int]]?
    /// The entered items, as long as their scope exists.
    private var path: [ViewKey.PathItem] = []
    /// Whether all lists show the children of the entered item, not only the item's own list.
    private var isByMode = false
    /// Whether shown numbers of children may be outdated.
    private var miscounts = false
    /// The version of the offers from which sections were made.
    private var resolved: UInt64?
    /// The version of the structure from which lists were made.
    private var structure: UInt64?
    private var isResolving = false
    /// Prepared queries of its lists, where these are long.
    private var prepared: [QueryPreparation] = []
    /// Whether it waits for a turn among long queries, and the users in whose queues it waits.
    private var awaitsTurn = false
    private var queuedUsers: Set<String> = []
    /// Whether an update is in progress, whose caller will wake the screens.
    private var isAdvancing = false
    private var waiting: [(user: String, agent: String, done: (HostError?) -> Void)] = []

    init(_ key: ViewKey, on home: ContainerScreens) {
        self.key = key
        self.home = home
        state = ViewState(
            number: home.domain.nextTicket(), outline: nil, scope: nil, components: [],
            sections: nil,
            lists: [], path: [])
    }

    /// Adds a screen, or a part of one, that shows the view from now on.
    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        home.audience.schedule()
        screen.ballots?.show(screen, on: self)
        payer.join(screen.account, for: state)
    }

    /// Removes a screen; with the last one the view goes.
    func remove(_ screen: Screen) {
        screens[screen.id] = nil
        home.audience.schedule()
        screen.ballots?.hide(screen, from: self)
        payer.leave(screen.account, to: screens.values.first?.account)
        home.shared.removeUnused(self)
    }

    /// Whether it has been shown before.
    var isReady: Bool { structure != nil }

    /// Whether ``state`` is current, or as current as possible while a component is not attached.
    var isSettled: Bool { isReady && !(isResolving && home.updates.offers != nil) }

    var rowCount: Int { lists.reduce(0) { $0 + $1.items.count } }

    /// Calls back once the view can be shown, or with the error if it can't; long queries take a turn of `agent`, for
    /// whom the user acts.
    func whenReady(
        for user: String, as agent: String, _ done: @escaping (HostError?) -> Void
    ) {
        if isReady && !isResolving { return done(nil) }
        if awaitsTurn {
            do throws(HostError) {
                try waitForTurn(for: agent)
            } catch {
                return done(error)
            }
        }
        waiting.append((user, agent, done))
        if !isResolving { resolve(for: home.updates.offers) }
    }

    /// Moves the view, with its screens, to another path.
    func move(to path: [ViewKey.PathItem]) {
        key.path = path
        structure = structure.map { _ in 0 }
    }

    /// Whether it shows an item that has children.
    var showsChildren: Bool {
        lists.contains { $0.items.contains { $0.view.children != nil } }
    }

    /// Marks the shown numbers of children as outdated.
    func recount() {
        miscounts = true
        home.updates.markStale(self)
    }

    /// Whether it changes when filters components offer something else.
    var dependsOnOffers: Bool { showsFilters || !key.selection.isEmpty }

    private var showsFilters: Bool {
        home.container.slots.contains { $0.kind == .filters && !$0.isHidden(beside: key.hidden) }
    }

    /// Updates the state to a version, if that is possible now; returns whether the state changed.
    func advance(to version: UInt64) -> Bool {
        self.version = version
        guard isReady else { return false }
        isAdvancing = true
        defer { isAdvancing = false }
        let before = state.number
        if !isResolving, dependsOnOffers, let offers = home.updates.offers,
            offers != resolved
        {
            resolve(for: offers)
        }
        if isSettled { try? refresh() }
        return state.number != before
    }
}

extension SharedView: LiveQueryHolder {
    func queryBecameStale() { home.updates.markStale(self) }
}

// MARK: What is selected

extension SharedView {
    private func resolve(for offers: UInt64?) {
        isResolving = true
        let ask: FilterResolution.Ask = { [home] in home.answers.ask($0, $1, $2) }
        home.container.filters.resolve(
            key.selection, offers: showsFilters, asking: ask
        ) {
            [weak self] result in
            self?.resolved(result, for: offers)
        }
    }

    private func resolved(_ result: Result<[ResolvedSection], HostError>, for offers: UInt64?) {
        isResolving = false
        var failure: HostError?
        switch result {
        case .success(let sections):
            if sections != self.sections { structure = structure.map { _ in 0 } }
            self.sections = sections
            resolved = offers
            if isReady {
                // If it is shown already, it is updated with all others, or when it is read.
                if !isAdvancing { version = 0 }
            } else {
                do throws(HostError) {
                    try refresh()
                } catch {
                    failure = error
                }
            }
        case .failure(.filterNotFound(let section, let filter, _, _)) where isReady:
            // A selected filter no longer exists: the screens continue without it.
            resolved = offers
            home.filters.drop(filter, in: section, from: self)
        case .failure(let error):
            // Screens that already show the view keep what they had.
            resolved = offers
            failure = isReady ? nil : error
        }
        finish(failure)
    }

    /// Calls back the waiting callers, unless filters are still being resolved.
    private func finish(_ failure: HostError?) {
        guard !isResolving else { return }
        let waiting = waiting
        self.waiting.removeAll()
        // Called first, so that only screens that already show the view are woken.
        if !isAdvancing {
            home.updates.markStale(self)
            home.updates.touch(screens.values)
        }
        for (_, _, done) in waiting { done(failure) }
    }

    /// Prepares the queries of the lists, in a turn of one of the users who wait for them; throws `limitExceeded` if
    /// all of these have too many waiting queries.
    private func prepare() throws(HostError) {
        isResolving = true
        awaitsTurn = true
        prepared = []
        var users = Set(waiting.map(\.agent) + screens.values.map(\.account.owner))
        if users.isEmpty { users = [""] }
        var failure: HostError?
        for user in users where awaitsTurn {
            do throws(HostError) {
                try waitForTurn(for: user)
            } catch {
                failure = error
            }
        }
        guard let failure, awaitsTurn, queuedUsers.isEmpty else { return }
        (isResolving, awaitsTurn) = (false, false)
        throw failure
    }

    private func waitForTurn(for user: String) throws(HostError) {
        guard queuedUsers.insert(user).inserted else { return }
        do throws(HostError) {
            // Only for views that are not shown yet: shown ones are limited by the number of screens.
            try home.domain.queries.add(of: user, isBounded: !isReady) { [weak self] end in
                guard let self else { return end() }
                queuedUsers.remove(user)
                guard awaitsTurn else { return end() }
                awaitsTurn = false
                find(end)
            }
        } catch {
            queuedUsers.remove(user)
            throw error
        }
    }

    /// Runs the queries of the lists in slices, and then shows the result.
    private func find(_ end: @escaping LongQueries.End) {
        let queries = queries()
        do throws(IndexError) {
            prepared = try queries.map { (_, index, query) throws(IndexError) in
                try QueryPreparation(query, in: index)
            }
        } catch {
            isResolving = false
            end()
            return finish(HostError(error))
        }
        home.domain.slices.run { [weak self] in
            self?.prepared.contains { $0.step() } ?? false
        } then: { [weak self] in
            guard let self else { return end() }
            isResolving = false
            var failure: HostError?
            if prepared.contains(where: \.isHopeless) {
                failure = queries.first?.slot.tooBusy
            } else {
                do throws(HostError) {
                    try refresh()
                } catch {
                    failure = error
                }
            }
            // Kept if the queries must run again.
            if !isResolving { prepared = [] }
            end()
            finish(failure)
        }
    }

    /// The prepared result of a query, as of now.
    private func answer(to query: IndexQuery, in index: ContentIndex) -> AnswerSearch? {
        prepared.first { $0.index === index && $0.query == query }?.answer()
    }
}

// MARK: What is shown

extension SharedView {
    /// Makes the present state, if the queries of its lists need no slices; throws `fieldUnknown` when first shown,
    /// if a sort field does not exist.
    private func refresh() throws(HostError) {
        let container = home.container
        var isRemade = structure != home.updates.structure || !fits(container)
        if !isRemade {
            var isSame = true
            // All lists share the budget of one turn.
            var looks = lists.first?.index.looksInTurn ?? 0
            for place in lists.indices {
                let isAnother = lists[place].advance(within: &looks)
                guard isAnother || miscounts else { continue }
                let before = lists[place].items
                lists[place].items = shown(
                    lists[place].window, before, of: lists[place].index, container)
                isSame = isSame && !isAnother && lists[place].items == before
            }
            miscounts = false
            for list in lists { list.index.growOrders(in: container.domain) }
            isRemade = lists.contains { $0.query.isOutdated }
            // A query that was too long for a turn just now would be so again.
            if isRemade, prepared.isEmpty { return try prepare() }
            if isSame, !isRemade { return }
        }
        if isRemade {
            guard let made = try makeLists() else { return try prepare() }
            lists = made
            structure = home.updates.structure
            for list in lists { list.index.growOrders(in: container.domain) }
        }
        let counted = lists.first { !$0.isLeftOut } ?? lists.first
        // Answers of a source don't cover all of its items, so they give no counts.
        let counts = counted.flatMap { $0.asked == nil ? $0.query.counts : nil }
        let before = isRemade ? (nil, []) : (self.counts, state.sections ?? [])
        let sections =
            showsFilters ? self.sections.views(counts: counts, before: before) : nil
        self.counts = counts
        let new = newState(sections, isRemade: isRemade)
        if isRemade, new.shows(sameAs: state) { return }
        state = new
    }

    /// Makes the present state, with empty lists hidden that are to be left out while empty.
    private func newState(_ sections: [SectionView]?, isRemade: Bool) -> ViewState {
        let container = home.container
        let scope = container.scopes[key.scope]
        let empty = Set(lists.lazy.filter(\.isLeftOut).map(\.component))
        let isAnother = isRemade || empty != self.empty
        self.empty = empty
        return ViewState(
            number: container.domain.nextTicket(),
            outline: isRemade ? home.shown.outline() : state.outline, scope: scope?.name,
            components: isAnother
                ? home.shown.components(in: scope, mode, hiding: key.hidden.union(empty))
                : state.components,
            sections: sections,
            lists: lists.filter { !$0.isLeftOut }.map(\.shown), path: path.map(\.item))
    }

    /// Whether the lists still match the components.
    private func fits(_ container: Container) -> Bool {
        lists.allSatisfy { list in
            let slot = container.slot(list.component)
            return slot?.list === list.index && slot?.asked === list.asked?.question.source
                && (list.asked != nil || list.isFlat == isFlat(list.index, list.component))
        }
    }

    /// Makes the lists; nil: their queries must run in slices.
    private func makeLists() throws(HostError) -> [LiveList]? {
        var made: [LiveList] = []
        let queries = queries()
        var looks = queries.first?.index.looksInTurn ?? 0
        for (slot, index, query) in queries {
            guard let query = try live(query, in: index, within: &looks) else { return nil }
            query.holder = self
            let before = lists.first { $0.component == slot.name }?.items ?? []
            let asked = asked(slot, in: index)
            made.append(
                LiveList(
                    component: slot.name, index: index, query: query, asked: asked,
                    isFlat: isFlat(index, slot.name), isLoading: slot.own.awaitsItems,
                    hidesEmpty: slot.hidesEmpty,
                    items: shown(
                        asked?.items ?? query.window, before, of: index, home.container, anew: true)
                ))
        }
        isTyped = false
        return made
    }

    /// The query of each list.
    ///
    /// Filters are counted in the first list, and also in the next one while those before it may be left out.
    private func queries() -> [(slot: Slot, index: ContentIndex, query: IndexQuery)] {
        let container = home.container
        let scope = container.scopes[key.scope]
        path = scope?.name == key.scope ? key.path : []
        isByMode = container.scopes.modes(in: scope)?.isByMode ?? false
        var queries: [(slot: Slot, index: ContentIndex, query: IndexQuery)] = []
        for slot in container.scopes.lists(in: scope, mode)
        where !slot.isHidden(beside: key.hidden) {
            guard let index = slot.list else { continue }
            let counts = showsFilters && queries.allSatisfy { $0.slot.hidesEmpty }
            queries.append((slot, index, query(of: slot, index, counts: counts)))
        }
        return queries
    }

    private func query(of slot: Slot, _ index: ContentIndex, counts: Bool) -> IndexQuery {
        let component = slot.name
        let scope: ParentScope =
            if let item = enteredItem(in: component) {
                .under(item)
            } else {
                key.search.isEmpty && !isFlat(index, component) ? .roots : .all
            }
        var sort = key.sort.map { SortKey($0) }
        // A sort field may have been removed: screens that were sorted by it continue without it.
        if isReady { sort.removeAll { !index.isSortable(by: $0.field) } }
        if key.sort.isEmpty { sort = slot.order(of: index) }
        guard !slot.asks else {
            return IndexQuery(
                sections: sections.map(\.query), sort: sort, limit: 0, countsFacets: false)
        }
        return IndexQuery(
            parent: scope, sections: sections.map(\.query), search: key.search, sort: sort,
            limit: key.mostEntries(of: component), countsFacets: counts)
    }

    private func live(
        _ query: IndexQuery, in index: ContentIndex, within looks: inout Int
    ) throws(HostError) -> LiveQuery? {
        let answer = answer(to: query, in: index)
        guard answer != nil || !query.isLong(in: index) else { return nil }
        do {
            return try LiveQuery(query, in: index, answer, within: &looks)
        } catch {
            throw HostError(error)
        }
    }

    /// Whether no item of a list has a parent, so that its roots are all of its items.
    private func isFlat(_ index: ContentIndex, _ component: String) -> Bool {
        key.search.isEmpty && enteredItem(in: component) == nil && index.tree.isFlat
    }

    /// The item whose children a list shows; nil: the list is at its top.
    private func enteredItem(in component: String) -> String? {
        path.last { isByMode || $0.component == component }?.item
    }

    private var mode: ListMode {
        ListMode(isInside: !path.isEmpty, isSearching: !key.search.isEmpty)
    }

    /// The window's items; items that show the same as before keep their objects.
    private func shown(
        _ window: [IndexedItem], _ before: [ShownItem], of index: ContentIndex,
        _ container: Container, anew: Bool = false
    ) -> [ShownItem] {
        var known: [String: ShownItem]?
        let fields = container.definition.listedFields
        let nested = container.contents.nested(in: index, scope: key.scope, hiding: key.hidden)
        return window.enumerated().map { place, row in
            if !anew, place < before.count, before[place].row == row,
                before[place].view.children == nested.children(of: row.id)
            {
                return before[place]
            }
            if known == nil {
                known = Dictionary(before.map { ($0.row.id, $0) }) { first, _ in first }
            }
            let view = ItemView(
                row, fields: fields, nested: nested, derived: container.derived)
            if let old = known?[row.id], old.view == view { return old }
            return ShownItem(row, view)
        }
    }
}

// MARK: Sources that are asked

extension SharedView {
    /// The part of a source's answers that is shown; nil: the list is not asked from a source.
    private func asked(_ slot: Slot, in index: ContentIndex) -> AskedWindow? {
        guard let source = slot.asked else { return nil }
        let path = path.filter { isByMode || $0.component == slot.name }.map(\.item)
        let question = ContentQuestion(
            search: key.search, selection: key.selection, path: path,
            sort: key.sort.isEmpty ? slot.definition.sort : key.sort)
        return AskedWindow(
            source.question(question), limit: key.mostEntries(of: slot.name),
            of: waiting.first?.user ?? screens.values.first?.owner ?? "", isTyped: isTyped,
            in: index, for: self)
    }

    /// Requests failed answers again, after a user chose what the view shows.
    ///
    /// If the user does not type, requests that wait for further typing are sent at once.
    func retryAnswers(isTyped: Bool) {
        if !isTyped { self.isTyped = false }
        for list in lists { list.asked?.question.retry(isTyped: isTyped) }
    }
}
