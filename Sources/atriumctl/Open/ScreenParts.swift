import Interfaces

/// A screen and the containers within it: one of these parts is selected and receives the keys.
struct ScreenParts {
    /// What a revision contains of the selected part.
    struct News {
        /// Whether all of it is new, so that lists are laid out anew.
        var isWhole: Bool
        /// The lists that changed.
        var lists: Set<String>
    }

    let container: String
    /// The whole screen.
    private(set) var root = ScreenModel()
    /// The selected part, a container within the container; empty: the container itself.
    private(set) var part = ""
    /// The search text, by part.
    private var searches: [String: String]
    /// The sort keys, by part.
    private var sorts: [String: [String]]
    /// The descriptions of the containers on the screen.
    private var outlines: ContainerOutlines = [:]

    init(container: String, search: String, sort: [String]) {
        self.container = container
        searches = ["": search]
        sorts = ["": sort]
    }

    // MARK: - The selected part

    var model: ScreenModel { model(of: part) }

    /// The name of the container that the selected part shows.
    var containerName: String { containerName(of: part) }

    var title: String { model.title.isEmpty ? containerName : model.title }

    var search: String { search(of: part) }

    var sort: [String] { sort(of: part) }

    mutating func setSearch(_ text: String) { searches[part] = text }

    mutating func setSort(_ keys: [String]) { sorts[part] = keys }

    /// The first component of a kind that is shown.
    func component(_ kind: String) -> Screens.Open.Reply.Components? {
        model.components.first { $0.kind == kind && !$0.hidden }
    }

    /// Whether there is something beside the lists.
    var hasThread: Bool { component("comments") != nil || !model.focus.isEmpty }

    /// Whether an item has others inside: it has children, or every item of the list leads to another list.
    func leadsInside(_ item: Item) -> Bool {
        if let children = item.children, children > 0 { return true }
        return model.path.isEmpty && search.isEmpty
            && outlines[containerName]?.enters.contains(model.scope ?? "") == true
    }

    // MARK: - All parts

    func model(of part: String) -> ScreenModel {
        part.isEmpty ? root : root.parts.first { $0.path == part }?.model ?? root
    }

    /// The name of the container that a part shows.
    func containerName(of part: String) -> String {
        part.isEmpty ? container : root.parts.first { $0.path == part }?.container ?? container
    }

    func search(of part: String) -> String { searches[part] ?? "" }

    func sort(of part: String) -> [String] { sorts[part] ?? [] }

    /// Selects a part; returns whether it is another one.
    mutating func select(_ part: String) -> Bool {
        defer { self.part = part }
        return part != self.part
    }

    /// The part after the selected one, or before it; the container itself is one of them, if it has lists.
    func next(_ step: Int) -> String? {
        let all = (hasLists ? [""] : []) + inOrder
        guard all.count > 1 else { return nil }
        let here = all.firstIndex(of: part) ?? 0
        return all[(here + step + all.count) % all.count]
    }

    /// Whether the selected part is not on the screen any more.
    var isGone: Bool { !part.isEmpty && !root.parts.contains { $0.path == part } }

    /// The part to select now: another one if the selected one is gone, or is only a frame around others.
    var wanted: String {
        guard part.isEmpty || isGone else { return part }
        return hasLists ? "" : inOrder.first ?? ""
    }

    private var hasLists: Bool {
        root.components.contains { $0.kind == "contents" && !$0.hidden }
    }

    /// The parts, in the order of their components.
    private var inOrder: [String] {
        let places = Dictionary(
            root.components.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first })
        func place(_ part: String) -> Int {
            places[String(part.prefix { $0 != "/" })] ?? places.count
        }
        return root.parts.filter { $0.problem == nil }.map(\.path)
            .sorted { (place($0), $0) < (place($1), $1) }
    }

    // MARK: - Revisions

    /// Applies a revision, and returns what it changed in the lists of all parts, in order; throws for one that does
    /// not lead on from what is here.
    mutating func apply(_ reply: Screens.Open.Reply) throws -> [ScreenChange] {
        let changes = try root.apply(reply)
        if reply.reset != nil {
            // The screen was opened with the choices of the container itself alone.
            searches = searches.filter { $0.key.isEmpty }
            sorts = sorts.filter { $0.key.isEmpty }
        }
        return changes
    }

    /// What a revision contains of the selected part.
    func news(_ reply: Screens.Open.Reply) -> News {
        func news(_ received: some ScreenNews, isAnew: Bool) -> News {
            News(
                isWhole: isAnew || received.components != nil || received.title != nil,
                lists: Set((received.lists ?? []).map(\.component)))
        }
        if part.isEmpty { return news(reply, isAnew: reply.base == nil) }
        let received = reply.parts?.first { $0.part == part }
        return received.map { news($0, isAnew: reply.base == nil || $0.new == true) }
            ?? News(isWhole: reply.base == nil, lists: [])
    }

    /// The containers that a revision brings onto the screen, or changes: their descriptions are asked for.
    func described(by reply: Screens.Open.Reply) -> [String] {
        var names = reply.base == nil || reply.title != nil ? [container] : []
        for news in reply.parts ?? [] where news.gone != true && news.problem == nil {
            let isNew = news.new == true || news.title != nil
            if isNew, !names.contains(news.container) { names.append(news.container) }
        }
        return names
    }

    /// Adds a container's description.
    mutating func add(_ outline: ContainerOutline, of container: String) {
        outlines[container] = outline
    }

    // MARK: - Filters

    /// The sections that can be chosen here: those of the containers around that have no list of their own, or that this one
    /// follows, and its own that follow none.
    var sections: [SectionInReach] {
        var path = ""
        var parts = [""]
        for name in part.split(separator: "/") {
            path += path.isEmpty ? "\(name)" : "/\(name)"
            parts.append(path)
        }
        return parts.enumerated().flatMap { index, part in
            let model = model(of: part)
            let follows = root.followed(in: part, of: container, outlines)
            let followed =
                index + 1 < parts.count
                ? Set(root.followed(in: parts[index + 1], of: container, outlines).values) : nil
            return model.sections.filter { section in
                follows[section.id] == nil
                    && (followed.map { !model.hasLists || $0.contains(section.id) } ?? true)
            }.map { SectionInReach(part: part, section: $0) }
        }
    }

    /// The parts in whose sections something is selected, each once.
    var filtered: [String] {
        sections.filter { $0.section.filters.contains(where: \.selected) }
            .reduce(into: []) { if !$0.contains($1.part) { $0.append($1.part) } }
    }

    /// The questions that find what the sections that list only some of their filters have of a text.
    func questions(_ text: String) -> [FilterLookup.Question] {
        guard !text.isEmpty else { return [] }
        return sections.filter { $0.section.more == true }.map { reached in
            let (model, search) = (model(of: reached.part), search(of: reached.part))
            return .init(
                part: reached.part, section: reached.section.id, text: text, scope: model.scope,
                filters: model.selection, search: search.isEmpty ? nil : search)
        }
    }

    // MARK: - Pages

    /// What a list shows now, as a question: the thread, or items.
    func query(_ component: String) -> Tail.Query {
        if let talkQuery, talkQuery.component == component { return talkQuery }
        return .items(
            .init(
                component: component, scope: model.scope,
                parent: model.path.last ?? (search.isEmpty ? "" : nil), filters: model.selection,
                search: search.isEmpty ? nil : search, sort: sort.isEmpty ? nil : sort))
    }

    /// What the thread shows now, as a question; nil: there is none.
    var talkQuery: Tail.Query? {
        component("comments").map {
            .comments(component: $0.name, item: model.focus.isEmpty ? nil : model.focus)
        }
    }

    /// The list that the thread shows; nil: there is none.
    var threadList: ScreenModel.List? {
        component("comments").flatMap { model.list($0.name) }
    }
}
