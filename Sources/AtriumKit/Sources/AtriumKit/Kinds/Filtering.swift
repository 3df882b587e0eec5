/// The way in which a section's filters combine, and in which a person picks them.
public enum SectionInput: String, Sendable, Hashable, Codable, CaseIterable {
    /// At most one: selecting another deselects the first.
    case single
    /// Any number; an item has to match one of them.
    case several
    /// One range `from..to`, either end left out for open; both ends included.
    case range
    /// One text, searched in a field.
    case text
}

/// A choice within a section.
public struct Filter: Sendable, Hashable, Codable {
    /// Its id in the section, as in `--filter section=id`.
    public var id: String
    /// The title that people read.
    public var title: String
    /// The items that it lets through.
    public var predicate: Predicate
    /// A field of dates: the filter lets the present date through, in place of ``predicate``; nil for other filters.
    ///
    /// The host determines that date, and updates screens when it ends.
    public private(set) var presentOf: String?

    /// Creates a filter.
    public init(id: String, title: String, predicate: Predicate) {
        self.id = id
        self.title = title
        self.predicate = predicate
    }

    /// Creates a filter for items of the present day, week or month, by a field of dates.
    public init(id: String, title: String, presentOf field: String) {
        self.init(id: id, title: title, predicate: .or([]))
        presentOf = field
    }
}

/// A group of filters on one topic.
///
/// Filters add up within a section and narrow across sections.
public struct FilterSection: Sendable, Hashable, Codable {
    /// Its id in the container: `[a-z][a-z0-9-]{0,62}`.
    public var id: String
    /// The title that people read.
    public var title: String
    /// The way in which its filters combine.
    public var input: SectionInput
    /// The filters on offer, in order; empty for text.
    public var filters: [Filter]
    /// Whether there are further filters, which are not on offer but can be selected.
    public var hasMore = false
    /// A field of dates by days: after these filters the host offers the seven days of the present week, including
    /// those that no item has; nil: none are added.
    ///
    /// Their ids are the dates, which the component accepts as filters for any week. Screens are updated when the week
    /// ends.
    public var weekOf: String?

    /// Creates a section that offers all its filters.
    public init(id: String, title: String, input: SectionInput, filters: [Filter]) {
        self.id = id
        self.title = title
        self.input = input
        self.filters = filters
    }
}

/// The selected filters: ids by section, in the order of selection.
///
/// A value, owned by a screen or a call, never by the component.
@frozen
public struct Selection: Sendable, Hashable {
    /// Filter ids by section id; a section without any has no entry.
    public private(set) var sections: [String: [String]]

    /// Creates a selection; sections without filters are left out.
    public init(_ sections: [String: [String]] = [:]) {
        self.sections = sections.filter { !$0.value.isEmpty }
    }

    /// The ids selected in a section.
    public subscript(section: String) -> [String] {
        get { sections[section] ?? [] }
        set { sections[section] = newValue.isEmpty ? nil : newValue }
    }

    /// Whether nothing is selected.
    public var isEmpty: Bool { sections.isEmpty }
}

/// Encoded as its sections.
extension Selection: Codable {
    /// Decodes a selection; sections without filters are left out.
    public init(from decoder: any Decoder) throws {
        self.init(try [String: [String]](from: decoder))
    }

    /// Encodes the sections.
    public func encode(to encoder: any Encoder) throws { try sections.encode(to: encoder) }
}

/// The kind `filters`: offers sections of filters and turns a selection into predicates.
public protocol Filtering: Component {
    /// Notified of selections that the component changes by itself.
    var delegate: (any FilteringDelegate)? { get set }

    /// The fields whose values the host reports through ``fieldValuesDidChange(_:)``.
    var observedFields: [String] { get }

    /// Receives the distinct values that the items' observed fields now have, sorted, by field.
    func fieldValuesDidChange(_ values: [String: [Value]])

    /// Receives the values, like ``fieldValuesDidChange(_:)``, and which of them are incomplete; the host calls this
    /// method.
    ///
    /// - Parameters:
    ///   - values: the distinct values, sorted, by field.
    ///   - cut: the fields that have more values than the host passes: those of most items are passed.
    func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>)

    /// The filters selected on screens that are opened without a selection; it never changes.
    ///
    /// What can't be selected is left out on the screens, and the container is degraded.
    var preselection: Selection { get }

    /// The sections on offer, in order.
    var sections: [FilterSection] { get }

    /// Returns the filter with this id, including one that is not on offer: a range or a text that a person wrote, or a
    /// value that no item has now.
    ///
    /// A value may be written in several ways (`8`, `8.0`): the returned filter has the id of the one on offer, so that
    /// both are one filter.
    /// offer, so that both are one filter.
    ///
    /// - Throws: a ``Refusal`` with code `filterNotFound`, which names the sections or filters that exist.
    func filter(_ id: String, in section: String) throws(Refusal) -> Filter

    /// Returns the selection with one more filter; the host notifies the delegate.
    ///
    /// The returned selection is the whole answer: events that are reported meanwhile are dropped. The same holds for
    /// ``deselect(_:in:of:on:)`` and ``clear(_:on:)``.
    func select(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection

    /// Returns the selection with one filter less; the host notifies the delegate.
    func deselect(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection

    /// Returns the empty selection; the host notifies the delegate.
    func clear(_ selection: Selection, on screen: String) -> Selection
}

extension Filtering {
    /// Does nothing: filters keep no records, unless a component has a reason to.
    public func apply(_ change: Change) {}
    /// No fields by default.
    public var observedFields: [String] { [] }
    /// Empty by default.
    public var preselection: Selection { Selection() }
    /// Does nothing.
    public func fieldValuesDidChange(_ values: [String: [Value]]) {}
    /// Calls ``fieldValuesDidChange(_:)``, as if the values were complete.
    public func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>) {
        fieldValuesDidChange(values)
    }

    /// Adds the filter; in a section other than `several` it replaces the previous one.
    public func select(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection {
        let filter = try self.filter(filter, in: section).id
        var selection = selection
        let input = sections.first { $0.id == section }?.input ?? .several
        if input != .several {
            selection[section] = [filter]
        } else if !selection[section].contains(filter) {
            selection[section].append(filter)
        }
        return selection
    }

    /// Removes the filter; one that was not selected changes nothing.
    public func deselect(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection {
        guard sections.contains(where: { $0.id == section }) else {
            throw Refusal(
                .filterNotFound, "There is no section '\(section)'.",
                evidence: ["section": section, "filter": filter])
        }
        var selection = selection
        selection[section].removeAll { $0 == filter }
        return selection
    }

    /// Returns the empty selection.
    public func clear(_ selection: Selection, on screen: String) -> Selection { Selection() }
}

/// The delegate that a ``Filtering`` notifies of selections that it changes by itself.
public protocol FilteringDelegate: AnyObject {
    /// A filter was selected on a screen.
    func filtering(
        _ filters: any Filtering, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String)
    /// A filter was deselected on a screen.
    func filtering(
        _ filters: any Filtering, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String)
    /// A screen's selection was cleared.
    func filteringDidClear(_ filters: any Filtering, on screen: String)
}
