import Interfaces

/// Containers within the container.
extension Browser {
    /// What a revision contains of the part that is shown.
    struct News {
        /// Whether all of it is new, so that lists are laid out anew.
        var isWhole: Bool
        /// The lists that changed.
        var lists: Set<String>
    }

    /// The entries of a part's list at first, by default.
    static let firstLimitOfParts = 50

    /// The container, or the part of it, that takes the keys.
    var model: ScreenModel { model(of: part) }

    /// A part of the screen; empty: the container itself.
    func model(of part: String) -> ScreenModel {
        part.isEmpty ? root : root.parts.first { $0.path == part }?.model ?? root
    }

    /// The name of the container that takes the keys.
    var place: String { place(of: part) }

    /// The name of the container that a part shows.
    func place(of part: String) -> String {
        part.isEmpty ? container : root.parts.first { $0.path == part }?.container ?? container
    }

    var search: String {
        get { searches[part] ?? "" }
        set { searches[part] = newValue }
    }

    var sort: [String] {
        get { sorts[part] ?? [] }
        set { sorts[part] = newValue }
    }

    /// The parts, in their order.
    var parts: [String] {
        let places = Dictionary(
            root.components.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first })
        func place(_ part: String) -> Int {
            places[String(part.prefix { $0 != "/" })] ?? places.count
        }
        return root.parts.filter { $0.problem == nil }.map(\.path)
            .sorted { (place($0), $0) < (place($1), $1) }
    }

    /// What a revision contains of the part that is shown.
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

    /// Shows another part.
    mutating func show(_ part: String) {
        guard part != self.part else { return }
        self.part = part
        (tails, found) = ([:], [])
        (pane, startsAnew, wantsEnd, leaving) = (.list, false, false, nil)
        takeLists(News(isWhole: true, lists: []), [], isNew: true)
        layThreadOut(isNew: true)
    }

    /// Asks for the descriptions of containers that are new on the screen, or were changed.
    func outlinesWanted(_ reply: Screens.Open.Reply) -> [Effect] {
        var names = reply.base == nil || reply.title != nil ? [container] : []
        for news in reply.parts ?? [] where news.gone != true && news.problem == nil {
            let isNew = news.new == true || news.title != nil
            if isNew, !names.contains(news.container) { names.append(news.container) }
        }
        return names.map { .call(.describe(container: $0)) }
    }

    /// Goes to the next part, or the one before; the container itself is one of them, if it has lists.
    mutating func turnPart(_ step: Int) {
        let hasLists = root.components.contains { $0.kind == "contents" && !$0.hidden }
        let all = (hasLists ? [""] : []) + parts
        guard all.count > 1 else { return }
        let here = all.firstIndex(of: part) ?? 0
        show(all[(here + step + all.count) % all.count])
    }
}
