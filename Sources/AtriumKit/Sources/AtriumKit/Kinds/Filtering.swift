/// How a section's filters combine, and so how a person picks them.
public enum SectionInput: String, Sendable, Hashable, Codable, CaseIterable {
    /// One at most: selecting another deselects the first.
    case single
    /// Any number; they add up.
    case several
    /// One range `from..to`, either end left out for open; both ends included.
    case range
    /// One text, searched in a field.
    case text
}

/// One choice within a section.
public struct Filter: Sendable, Hashable, Codable {
    /// Its id in the section, as in `--filter section=id`.
    public var id: String
    /// What people read.
    public var title: String
    /// Which items it lets through.
    public var predicate: Predicate
    /// A field of dates: the filter lets the present date through, in place of ``predicate``.
    ///
    /// The host knows which date that is, and lets screens follow when it ends.
    public private(set) var presentOf: String?

    /// A filter.
    public init(id: String, title: String, predicate: Predicate) {
        self.id = id
        self.title = title
        self.predicate = predicate
    }

    /// A filter for items of the present day, week or month, as a field of dates has it.
    public init(id: String, title: String, presentOf field: String) {
        self.init(id: id, title: title, predicate: .or([]))
        presentOf = field
    }
}

/// A group of filters about one thing.
///
/// Filters add up within a section and narrow across sections.
public struct FilterSection: Sendable, Hashable, Codable {
    /// Its id in the container: `[a-z][a-z0-9-]{0,62}`.
    public var id: String
    /// What people read.
    public var title: String
    /// How its filters combine.
    public var input: SectionInput
    /// The filters on offer, in order; empty for text.
    public var filters: [Filter]
    /// Whether there are further ones, which can be selected too.
    public var hasMore = false
    /// A field of dates by days: behind these filters the host offers the seven days of the present week, also those
    /// that no item has.
    ///
    /// Their ids are the dates, which the component takes as filters, whatever the week. Screens follow when the week
    /// ends.
    public var weekOf: String?

    /// A section that offers all there is.
    public init(id: String, title: String, input: SectionInput, filters: [Filter]) {
        self.id = id
        self.title = title
        self.input = input
        self.filters = filters
    }
}

/// Which filters are selected: ids by section, in the order of selection.
///
/// A value, owned by a screen or a call, never by the component.
@frozen
public struct Selection: Sendable, Hashable {
    /// Filter ids by section id; a section without any has no entry.
    public private(set) var sections: [String: [String]]

    /// A selection; sections without filters are left out.
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
    /// Notified of selections that the component makes by itself.
    var delegate: (any FilteringDelegate)? { get set }

    /// The fields whose values the host reports through ``fieldValuesDidChange(_:)``.
    var observedFields: [String] { get }

    /// The distinct values that the items' observed fields now have, sorted, by field.
    func fieldValuesDidChange(_ values: [String: [Value]])

    /// As ``fieldValuesDidChange(_:)``, which the host calls through this one.
    ///
    /// - Parameters:
    ///   - values: the distinct values, sorted, by field.
    ///   - cut: the fields that have more values than the host passes: of these it passes those that most
    ///     items have.
    func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>)

    /// What is selected on screens that are opened without a selection; it never changes.
    var preselection: Selection { get }

    /// The sections on offer, in order.
    var sections: [FilterSection] { get }

    /// The filter with this id, also one that is not on offer: a range or a text that a person
    /// wrote, or a value that no item has now.
    ///
    /// A value may be written in several ways (`8`, `8.0`): what it gives has the id of the one on
    /// offer, so that both are one filter.
    ///
    /// - Throws: a ``Refusal`` with code `filterNotFound`, naming what there is.
    func filter(_ id: String, in section: String) throws(Refusal) -> Filter

    /// The selection with one filter more: what it returns is all the answer, and the delegate is notified of it by the
    /// host.
    func select(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection

    /// The selection with one filter less, answered as in ``select(_:in:of:on:)``.
    func deselect(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection

    /// The empty selection, answered as in ``select(_:in:of:on:)``.
    func clear(_ selection: Selection, on screen: String) -> Selection
}

extension Filtering {
    /// Does nothing: filters keep no records, unless a component has a reason to.
    public func apply(_ change: Change) {}
    /// Observes nothing.
    public var observedFields: [String] { [] }
    /// Nothing.
    public var preselection: Selection { Selection() }
    /// Does nothing.
    public func fieldValuesDidChange(_ values: [String: [Value]]) {}
    /// Takes the values for all there are.
    public func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>) {
        fieldValuesDidChange(values)
    }

    /// Adds the filter; in a section that is not `several` it replaces the one before.
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

    /// Takes the filter out; one that was not selected changes nothing.
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

    /// Selects nothing.
    public func clear(_ selection: Selection, on screen: String) -> Selection { Selection() }
}

/// What a ``Filtering`` notifies of selections that it makes by itself.
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
