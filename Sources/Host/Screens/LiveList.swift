import AtriumKit
import Index

/// One list as all see it who chose the same, kept as it is by now.
struct LiveList {
    let component: String
    let index: ContentIndex
    /// What it shows; of a source that is asked nothing.
    let query: LiveQuery
    /// What a source has answered; nil: the list itself is asked.
    let asked: AskedWindow?
    let isFlat: Bool
    /// Whether its component does not know its items yet.
    let isLoading: Bool
    /// Whether it is left out while it has nothing.
    let hidesEmpty: Bool
    var items: [ShownItem]

    var isLeftOut: Bool {
        hidesEmpty && total == 0 && (asked.map { $0.question.isAnswered } ?? true)
    }

    var total: Int { asked?.question.count ?? query.total }

    var window: [IndexedItem] { asked?.items ?? query.window }

    /// What screens see of it.
    var shown: ViewState.List {
        ViewState.List(
            component: component, total: total, hasMore: asked?.question.hasMore ?? false,
            state: asked?.state ?? (isLoading ? .loading : .ready), items: items)
    }

    /// Brings it up to now; false: it shows what it did.
    func advance(within looks: inout Int) -> Bool {
        let isAnother = query.advance(within: &looks)
        return asked?.advance() ?? false || isAnother
    }
}
