import Interfaces

/// How much there is of each list: a window that the screen shows live, and pages behind it.
struct ListWindows {
    /// The most entries of a list that a screen has.
    static let mostEntries = 1000
    /// The entries of a part's list at first, by default.
    private static let firstLimitOfParts = 50

    private struct ListID: Hashable {
        let part: String
        let component: String
    }

    private let firstLimit: Int
    /// Whether limits may grow.
    private let mayGrow: Bool
    /// The requested limits.
    private var limits: [ListID: Int] = [:]
    /// The entries beyond the windows of the selected part, by list.
    private var tails: [String: Tail] = [:]

    init(limit: Int, mayGrow: Bool) { (firstLimit, self.mayGrow) = (limit, mayGrow) }

    func items(behind component: String) -> [Item] { tails[component]?.items ?? [] }

    /// The comments on what the screen is focused on, those behind the window, too.
    func talk(in screen: ScreenParts) -> [Comment] {
        let tail = talkTail(in: screen)
        var window = screen.threadList?.comments ?? []
        if tail?.wholeTotal != nil {
            // Which replies are left out is known for the window alone.
            for index in window.indices { window[index].more = nil }
        }
        return window + (tail?.comments ?? [])
    }

    /// The pages of the thread that is shown; nil: none were read.
    private func talkTail(in screen: ScreenParts) -> Tail? {
        screen.talkQuery.flatMap { query in
            tails[query.component].flatMap { $0.query == query ? $0 : nil }
        }
    }

    // MARK: - Changes

    /// Forgets the limits, as the screen was started anew.
    mutating func resetLimits() { limits = [:] }

    /// Forgets the limits of a part, which begins with the default when it comes back.
    mutating func resetLimits(of part: String) {
        limits = limits.filter { $0.key.part != part }
    }

    mutating func dropPages() { tails = [:] }

    mutating func dropPages(behind component: String) { tails[component] = nil }

    /// Moves entries between the windows and the pages as a revision of the selected part does; `isNew`: the lists
    /// are others, and what is behind them, too.
    mutating func apply(
        _ changes: [ScreenChange], before: ScreenModel, _ model: ScreenModel, isNew: Bool
    ) {
        // Comments are not searched, filtered or sorted.
        if isNew { tails = tails.filter { if case .comments = $1.query { true } else { false } } }
        for component in tails.keys {
            let isFull =
                model.list(component)?.total ?? 0 >= before.list(component)?.total ?? 0
            tails[component]?.apply(changes, isFull: isFull)
        }
    }

    /// Adds a page; returns whether it is of a list that is shown.
    mutating func append(
        page: [Tail.Entry], next: String?, of query: Tail.Query, in model: ScreenModel
    ) -> Bool {
        guard tails[query.component]?.query == query, let window = model.list(query.component)
        else { return false }
        tails[query.component]?.append(
            page, next: next, window: window.entries, total: window.total)
        return true
    }

    // MARK: - Growth

    /// Whether a list may go on behind what is shown of it.
    func mayGoOn(_ list: ScreenModel.List, in screen: ScreenParts) -> Bool {
        guard list.component == screen.talkQuery?.component else {
            let known = list.entries.count + (tails[list.component]?.entries.count ?? 0)
            return list.hasMore || known < list.total
        }
        // The total does not count deleted comments, whose places are entries, too.
        return list.entries.count >= limit(of: list, in: screen)
            && talkTail(in: screen)?.wholeTotal.map { list.total > $0 } ?? true
    }

    /// Asks for more of a list whose end is near, for a terminal of so many rows; nil: there is no more, or it was asked for.
    mutating func more(
        of list: ScreenModel.List, in screen: ScreenParts, rows: Int
    ) -> Request? {
        guard mayGrow, mayGoOn(list, in: screen) else { return nil }
        if list.entries.count >= Self.mostEntries { return page(behind: list, in: screen) }
        let limit = limit(of: list, in: screen)
        guard list.entries.count >= limit, limit < Self.mostEntries else { return nil }
        let next = min(Self.mostEntries, max(limit * 2, rows * 4))
        limits[key(list, screen)] = next
        return .resize(component: list.component, next)
    }

    /// Asks for a page behind the window of a list; nil: there is none, or it was asked for.
    mutating func page(behind list: ScreenModel.List, in screen: ScreenParts) -> Request? {
        let query = screen.query(list.component)
        var tail = tails[list.component].flatMap { $0.query == query ? $0 : nil } ?? Tail(query)
        defer { tails[list.component] = tail }
        // All pages were read: what came since is only found by reading them again.
        guard !tail.isWaiting, tail.wholeTotal.map({ list.total > $0 }) ?? true else { return nil }
        tail.isWaiting = true
        return .page(query, cursor: tail.cursor, behind: list.entries.count)
    }

    /// How many entries of a list were asked for.
    private func limit(of list: ScreenModel.List, in screen: ScreenParts) -> Int {
        limits[key(list, screen)] ?? (screen.part.isEmpty ? firstLimit : Self.firstLimitOfParts)
    }

    private func key(_ list: ScreenModel.List, _ screen: ScreenParts) -> ListID {
        ListID(part: screen.part, component: list.component)
    }
}
