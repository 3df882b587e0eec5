import AtriumKit

/// The order of filters that come from values.
enum ValueOrder: String, CaseIterable {
    case ascending
    case descending
}

/// One section: its field, and how a filter's id is understood.
struct Facet {
    /// The field that it is about.
    let field: Field
    /// The order of filters that come from values.
    let order: ValueOrder
    /// Whether its filters are the values that items have.
    let followsValues: Bool
    /// Whether its filters are the days of the present week, which the host adds.
    let isWeek: Bool
    /// The filter for the present day, week or month; nil where it is not about dates.
    let present: Filter?
    /// What is selected on screens that are opened without a selection.
    private(set) var preselected: [String] = []
    /// What is on offer.
    private(set) var section: FilterSection
    private var offered: [String: Filter] = [:]

    init(_ section: FilterSection, field: Field, order: ValueOrder, followsValues: Bool) {
        self.section = section
        self.field = field
        self.order = order
        self.followsValues = followsValues
        isWeek = section.weekOf != nil
        present = followsValues || isWeek ? field.present : nil
        index()
    }

    /// The most bytes of a value that is offered; the host offers no filter with a longer id.
    private static let valueBytes = 4_096

    /// Offers a filter for each value that is not too long, sorted as they are given; `isCut`: there are further values.
    mutating func offer(_ values: [Value], isCut: Bool) {
        var filters = values.compactMap { value -> Filter? in
            guard let text = value.plainText, !text.isEmpty, text.utf8.count <= Self.valueBytes
            else { return nil }
            return Filter(
                id: text, title: text, predicate: .equals(field: field.name, value: value))
        }
        if order == .descending { filters.reverse() }
        section.filters = offeredPresent + filters
        section.hasMore = isCut
        index()
    }

    /// Has these selected on screens that are opened without a selection; returns the first that is none.
    mutating func preselect(_ ids: [String]) -> String? {
        if let unknown = ids.first(where: { filter($0) == nil }) { return unknown }
        preselected = ids.compactMap { filter($0)?.id }
        section.filters = offeredPresent + section.filters
        index()
        return nil
    }

    /// The filter for the present, where the definition speaks of it.
    private var offeredPresent: [Filter] {
        present.map { preselected.contains($0.id) ? [$0] : [] } ?? []
    }

    /// The filter with this id, nil when there is none and the id can't be understood.
    func filter(_ id: String) -> Filter? {
        if let filter = offered[id] { return filter }
        switch section.input {
        case .range:
            return WrittenRange(id, in: field).map {
                Filter(id: id, title: id, predicate: $0.predicate)
            }
        case .text:
            guard !id.allSatisfy(\.isWhitespace) else { return nil }
            return Filter(
                id: id, title: id, predicate: .contains(field: field.name, text: id))
        case .single, .several:
            if let present, present.id == id { return present }
            guard followsValues || isWeek, let value = field.value(writtenAs: id),
                let text = value.plainText
            else { return nil }
            // However it is written, it is the filter that is on offer.
            return offered[text]
                ?? Filter(
                    id: text, title: text, predicate: .equals(field: field.name, value: value))
        @unknown default:
            return nil
        }
    }

    /// Whether two ids stand for one filter.
    func isSame(_ one: String, as other: String) -> Bool {
        one == other || filter(one).map { $0.id == filter(other)?.id } ?? false
    }

    /// Whether a person may select this filter, which is understood: of values only those that items
    /// have, as far as that is known.
    func offers(_ id: String) -> Bool {
        !followsValues || section.hasMore || offered[id] != nil || id == present?.id
    }

    /// What would be understood, as the end of a sentence.
    func expectation(insteadOf id: String) -> String {
        switch section.input {
        case .range:
            let presets = section.filters.isEmpty ? "" : hint(id, section.filters.map(\.id)) + ","
            return
                "\(presets); write a range FROM..TO, such as \(field.exampleRange): either end may be left out"
        case .text:
            return "; write the text to look for"
        case .single, .several:
            if followsValues || isWeek, field.value(writtenAs: id) == nil, !field.hasTexts {
                return "; it takes \(field.expectedValue)"
            }
            return hint(id, section.filters.map(\.id))
        @unknown default:
            return ""
        }
    }

    private mutating func index() {
        offered = Dictionary(section.filters.map { ($0.id, $0) }) { first, _ in first }
    }
}
