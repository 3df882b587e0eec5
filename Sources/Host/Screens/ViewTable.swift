import AtriumKit

/// The views and focuses that a container's screens share.
///
/// A view is found by its choices, and by the items that it stands in or below. A focus is found by its subject and by
/// what it shows of it.
final class ViewTable {
    /// The views, by their choices.
    private(set) var views: [ViewKey: SharedView] = [:]
    /// The focuses, by subject and by what they show of it.
    private(set) var focuses: [Subject: [FocusKey: SharedFocus]] = [:]
    /// The views that stand in an item or below it.
    private(set) var standing: [String: [ObjectIdentifier: SharedView]] = [:]
    /// The items under which ``standing`` lists a view.
    private var items: [ObjectIdentifier: [String]] = [:]

    subscript(key: ViewKey) -> SharedView? { views[key] }

    subscript(key: FocusKey) -> SharedFocus? { focuses[key.subject]?[key] }

    /// Whether a view is shown, or will be.
    func has(_ view: SharedView) -> Bool {
        views[view.key] === view || items[ObjectIdentifier(view)] != nil
    }

    /// Whether a view stands in an item or below it, or a focus is on it.
    func isInUse(_ item: String) -> Bool {
        standing[item] != nil || focuses[.item(item)] != nil
    }

    /// Registers a view for all screens with its choices, below these ancestors.
    func insert(_ view: SharedView, under ancestors: [String]) {
        let other = views[view.key]
        if other !== view {
            if let other { remove(other) }
            views[view.key] = view
        }
        register(view, under: ancestors)
    }

    /// Registers a view under the items in which it stands, and under their ancestors, whether or not they exist.
    func register(_ view: SharedView, under ancestors: [String]) {
        let (items, id) = (view.key.path.map(\.item) + ancestors, ObjectIdentifier(view))
        guard items != self.items[id] ?? [] else { return }
        unregister(view)
        if !items.isEmpty { self.items[id] = items }
        for item in items { standing[item, default: [:]][id] = view }
    }

    private func unregister(_ view: SharedView) {
        let id = ObjectIdentifier(view)
        for item in items.removeValue(forKey: id) ?? [] {
            standing[item]?[id] = nil
            if standing[item]?.isEmpty == true { standing[item] = nil }
        }
    }

    func remove(_ view: SharedView) {
        if views[view.key] === view { views[view.key] = nil }
        unregister(view)
    }

    /// Removes a view that no screen shows.
    func removeUnused(_ view: SharedView) { if view.screens.isEmpty { remove(view) } }

    func insert(_ focus: SharedFocus) {
        focuses[focus.key.subject, default: [:]][focus.key] = focus
    }

    func remove(_ focus: SharedFocus) {
        guard self[focus.key] === focus else { return }
        focuses[focus.key.subject]?[focus.key] = nil
        if focuses[focus.key.subject]?.isEmpty == true { focuses[focus.key.subject] = nil }
    }
}

// MARK: Changes of subjects

extension ViewTable {
    /// Marks all focuses as changed, with the details of their items.
    func touchFocuses() {
        for focus in focuses.values.joined() { focus.value.touch(withDetails: true) }
    }

    /// Marks the focuses on a subject as changed.
    func touchFocuses(on subject: Subject, withDetails: Bool) {
        for focus in (focuses[subject] ?? [:]).values { focus.touch(withDetails: withDetails) }
    }

    /// Removes comments whose component is not attached, and so can't report their removal.
    func removeComments(_ comments: Set<String>, of component: String) {
        for focus in focuses.values.joined() {
            focus.value.removeComments(comments, of: component)
        }
    }
}
