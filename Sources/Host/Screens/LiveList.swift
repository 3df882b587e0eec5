import Index

/// A list as shown on all screens with the same choices, kept up to date.
struct LiveList {
    let component: String
    let index: ContentIndex
    /// The query for its items; a list whose source is asked has an empty one.
    let query: LiveQuery
    /// The answers of its source; nil: the list is not asked from a source.
    let asked: AskedWindow?
    let isFlat: Bool
    /// Whether its component does not know its items yet.
    let isLoading: Bool
    /// Whether it is left out while it is empty.
    let hidesEmpty: Bool
    var items: [ShownItem]

    var isLeftOut: Bool {
        hidesEmpty && total == 0 && (asked.map { $0.question.isAnswered } ?? true)
    }

    var total: Int { asked?.question.count ?? query.total }

    var window: [IndexedItem] { asked?.items ?? query.window }

    /// The list as screens show it.
    var shown: ViewState.List {
        ViewState.List(
            component: component, total: total, hasMore: asked?.question.hasMore ?? false,
            state: asked?.state ?? (isLoading ? .loading : .ready), items: items)
    }

    /// Updates the list; returns whether it has changed.
    func advance(within looks: inout Int) -> Bool {
        let isAnother = query.advance(within: &looks)
        return asked?.advance() ?? false || isAnother
    }
}
