import AtriumKit
import Index
import IndexModel

@testable import Host

/// What is committed, as those who committed it know, and what screens should show of it.
struct ScreenModel {
    /// What somebody has chosen on a screen.
    struct Choices {
        var scope: String?
        var selection = Selection()
        var search = ""
        var sort: [String] = []
        var limit = 4
        var limits: [String: Int] = [:]
        var places: [(component: String, item: String)] = []
        var focus: String?

        func limit(of component: String) -> Int { limits[component] ?? limit }
    }

    static let genres = ["crime", "drama", "école", "war"]

    /// The lists, each looked at plainly.
    private(set) var lists = [
        "list": IndexModel(fields: ContainerDefinition.films.fields),
        "more": IndexModel(fields: ContainerDefinition.films.fields),
    ]
    /// Values by subject and actor.
    private var ballots: [Subject: [String: Double]] = [:]
    private(set) var tallies: [Subject: Tally] = [:]
    private(set) var comments: [Subject: Int] = [:]
    /// The components in order, and whether each is hidden.
    var components: [(name: String, isHidden: Bool)] = [
        ("filters", false), ("list", false), ("more", false), ("stars", false), ("talk", false),
    ]

    /// The scopes, and the lists that each shows; without any, the lists that the container shows.
    var scopes: [ScopeDefinition] = []
    var modes: ListModes?

    /// The components that somebody sees: the lists of their scope and mode, in its order, in the places of those
    /// that the container has.
    func components(for choices: Choices) -> [(name: String, isHidden: Bool)] {
        guard let modes = modes(in: choices.scope) else { return components }
        let mode =
            choices.places.isEmpty
            ? choices.search.isEmpty ? modes.contents : modes.searched : modes.entered
        let shown = mode.isEmpty ? modes.contents : mode
        let others = components.map { lists[$0.name] == nil ? $0.name : "" }
        var names: [String] = []
        for (place, name) in others.enumerated() {
            if !name.isEmpty { names.append(name) }
            guard name.isEmpty, shown.contains(components[place].name) else { continue }
            names.append(shown[names.count { lists[$0] != nil }])
        }
        return names.map { ($0, isHidden($0)) }
    }

    func items(of list: String) -> [String] { (lists[list]?.items.keys).map { $0.sorted() } ?? [] }

    func has(_ item: String) -> Bool { lists.values.contains { $0.items[item] != nil } }

    mutating func put(_ item: Item, in list: String) {
        lists[list]?.items[item.id] = IndexModel.Stored(item: item, revision: 0)
    }

    mutating func remove(_ item: String, from list: String) { lists[list]?.items[item] = nil }

    /// Which lists a scope shows where; nil: all of them, everywhere.
    func modes(in scope: String?) -> ListModes? {
        scopes.first { $0.name == scope }?.lists ?? modes
    }

    /// The list of a scope that an item is in.
    func home(of item: String, in scope: String?) -> String? {
        let names = modes(in: scope)?.all ?? components.map(\.name)
        let homes = names.filter { lists[$0]?.items[item] != nil }
        return homes.first { !isHidden($0) } ?? homes.first
    }

    /// The way to an item: all that it lies under, and itself; where lists differ by mode through all of them.
    func places(
        to item: String, in list: String, _ scope: String?
    ) -> [(component: String, item: String)] {
        let isByMode = modes(in: scope)?.isByMode ?? false
        var places: [(component: String, item: String)] = []
        var next = (component: list, item: item)
        while let found = lists[next.component]?.items[next.item]?.item {
            // Of items that lie under one another none is outermost.
            if places.contains(where: { $0.item == found.id }) { return places.suffix(1) }
            places.insert(next, at: 0)
            guard let parent = found.parent else { break }
            next = (isByMode ? home(of: parent, in: scope) ?? "" : list, parent)
        }
        return places
    }

    /// What a looker stands in and is focused on, after a commit.
    func follow(_ choices: inout Choices) {
        if !(choices.focus.map(has) ?? true) { choices.focus = nil }
        guard let component = choices.places.last?.component else { return }
        let (modes, scope) = (modes(in: choices.scope), choices.scope)
        func list(of item: String) -> String? {
            if modes?.isByMode == true { return home(of: item, in: scope) }
            guard modes?.all.contains(component) ?? true else { return nil }
            return lists[component]?.items[item] == nil ? nil : component
        }
        let last = choices.places.last { list(of: $0.item) != nil }?.item
        choices.places = last.map { places(to: $0, in: list(of: $0) ?? "", scope) } ?? []
    }

    mutating func vote(_ value: Double?, by actor: String, on item: String?, tally: Tally) {
        let subject = Subject(item: item)
        ballots[subject, default: [:]][actor] = value
        tallies[subject] = tally
        guard let item else { return }
        for list in lists.keys { lists[list]?.tallies[item] = tally }
    }

    mutating func setComments(_ count: Int, on item: String?) {
        comments[Subject(item: item)] = count
        guard let item else { return }
        for list in lists.keys { lists[list]?.comments[item] = count }
    }

    func isHidden(_ component: String) -> Bool {
        components.first { $0.name == component }?.isHidden ?? true
    }

    /// Whether a list is left out, since it has nothing.
    private func isLeftOut(_ list: String, _ choices: Choices) -> Bool {
        guard ContainerDefinition.hidesEmpty.contains(list), let model = lists[list] else {
            return false
        }
        return model.page(query(list, choices, counts: false), after: nil).total == 0
    }

    // MARK: What a screen shows

    /// What differs from what a screen should show; nil: nothing.
    func difference(
        _ copy: ScreenCopy, _ choices: Choices, actor: String, thread: [CommentView]
    ) -> String? {
        if copy.scope != choices.scope ?? "" { return "scope: \(copy.scope)" }
        let components = components(for: choices).map { component in
            (component.name, isHidden: component.isHidden || isLeftOut(component.name, choices))
        }
        if copy.components.map(\.name) != components.map(\.0)
            || copy.components.map(\.isHidden) != components.map(\.isHidden)
        {
            return "components: \(copy.components)"
        }
        if copy.path != choices.places.map(\.item) { return "path: \(copy.path)" }
        if copy.focus != choices.focus ?? "" { return "focus: \(copy.focus)" }
        let shown = components.filter { !$0.isHidden }.map(\.0).filter { lists[$0] != nil }
        if Set(copy.lists.keys).subtracting(shown) != [] { return "lists: \(copy.lists.keys)" }
        for list in shown {
            if let difference = difference(copy, list, choices, actor, counts: list == shown.first)
            {
                return difference
            }
        }
        return focusDifference(copy, choices, actor, thread)
    }

    private func difference(
        _ copy: ScreenCopy, _ list: String, _ choices: Choices, _ actor: String, counts: Bool
    ) -> String? {
        guard let model = lists[list] else { return "no list \(list)" }
        let query = query(list, choices, counts: counts && !isHidden("filters"))
        let page = model.page(query, after: nil)
        let expected = page.ids.compactMap { model.items[$0]?.item }.map {
            view($0, actor, children: children(of: $0.id, in: list, choices))
        }
        if copy.lists[list] ?? [] != expected {
            return "\(list): \(copy.lists[list] ?? [])\nis not \(expected)"
        }
        if copy.totals[list] != page.total {
            return "\(list): \(copy.totals[list] ?? -1) in all, not \(page.total)"
        }
        guard query.countsFacets else { return nil }
        return sectionDifference(copy, choices, query, page.counts)
    }

    private func sectionDifference(
        _ copy: ScreenCopy, _ choices: Choices, _ query: IndexQuery, _ counts: [[Int]]
    ) -> String? {
        guard let sections = copy.sections, sections.map(\.id) == query.sections.map(\.id) else {
            return "sections: \(copy.sections?.map(\.id) ?? [])"
        }
        for (section, (asked, counts)) in zip(sections, zip(query.sections, counts)) {
            var expected: [String: Int] = [:]
            for (predicate, count) in zip(asked.offered, counts) {
                expected[Self.name(of: predicate)] = count
            }
            let found = Dictionary(section.filters.map { ($0.id, $0.count) }) { first, _ in first }
            if found != expected { return "\(section.id): \(found) is not \(expected)" }
            let selected = section.filters.filter(\.selected).map(\.id)
            if Set(selected) != Set(choices.selection[section.id]) {
                return "\(section.id): \(selected) are selected"
            }
        }
        return nil
    }

    private func focusDifference(
        _ copy: ScreenCopy, _ choices: Choices, _ actor: String, _ thread: [CommentView]
    ) -> String? {
        let subject = Subject(item: choices.focus)
        let isThere = choices.focus.map(has) ?? true
        if !isHidden("stars") {
            let tally = isThere ? tallies[subject] ?? Tally() : Tally()
            let expected = TallyView(tally: tally, mine: ballots[subject]?[actor])
            if copy.tally != expected {
                return "tally: \(String(describing: copy.tally)) is not \(expected)"
            }
        }
        if !isHidden("talk") {
            let expected = isThere ? thread : []
            if copy.comments != expected { return "comments: \(copy.comments) not \(expected)" }
        }
        return nil
    }

    // MARK: The plain query

    private func query(_ list: String, _ choices: Choices, counts: Bool) -> IndexQuery {
        let isByMode = modes(in: choices.scope)?.isByMode ?? false
        let place = choices.places.last { isByMode || $0.component == list }
        let top: ParentScope = choices.search.isEmpty ? .roots : .all
        let offered = Set(lists.values.flatMap { $0.items.values }.flatMap { genres(of: $0.item) })
        let chosen = choices.selection["genre"]
        let genre = SectionQuery(
            id: "genre", selected: chosen.map(Self.genre),
            offered: counts ? offered.union(chosen).sorted().map(Self.genre) : [])
        let rating = SectionQuery(
            id: "rating",
            selected: choices.selection["rating"].isEmpty ? [] : [Self.good],
            offered: counts ? [Self.good] : [])
        return IndexQuery(
            parent: place.map { .under($0.item) } ?? top, sections: [genre, rating],
            search: choices.search,
            sort: (choices.sort.isEmpty ? ContainerDefinition.orders[list] ?? [] : choices.sort)
                .map { SortKey($0) },
            limit: choices.limit(of: list), countsFacets: counts)
    }

    private static let good = Predicate.range(field: "rating", lower: .init(8), upper: nil)

    private static func genre(_ name: String) -> Predicate {
        .equals(field: "genres", value: .text(name))
    }

    private static func name(of predicate: Predicate) -> String {
        if case .equals(_, .text(let name)) = predicate { name } else { "8+" }
    }

    private func genres(of item: Item) -> [String] {
        (item.fields["genres"]?.list ?? []).compactMap(\.text)
    }

    /// How many items lie right under one, in the lists that are shown inside it; nil: none.
    private func children(of item: String, in list: String, _ choices: Choices) -> Int? {
        var nested = [list]
        if let modes = modes(in: choices.scope), modes.isByMode {
            nested = (modes.entered.isEmpty ? modes.contents : modes.entered)
                .filter { !isHidden($0) }
        }
        let count = nested.compactMap { lists[$0] }.reduce(0) { count, list in
            count + list.items.values.count { $0.item.parent == item }
        }
        return count == 0 ? nil : count
    }

    private func view(_ item: Item, _ actor: String, children: Int?) -> ItemView {
        let subject = Subject.item(item.id)
        return ItemView(
            id: item.id, parent: item.parent, fields: item.fields.jsonBytes,
            votes: TallyView(tally: tallies[subject] ?? Tally(), mine: ballots[subject]?[actor]),
            comments: comments[subject] ?? 0, children: children)
    }
}
