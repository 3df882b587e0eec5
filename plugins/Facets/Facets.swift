public import AtriumKit

/// Sections of filters, as the settings declare them: `org.atrium.facets`.
///
/// A section is about one field. It offers the filters that the settings list, or one for each
/// value that the items have, or it takes a range or a text that a person writes.
public final class Facets: Filtering {
    /// Who is notified of selections.
    public weak var delegate: (any FilteringDelegate)?

    private var facets: [Facet]

    private static let sections = Setting.list(
        "sections",
        "the sections in order, each with id, field, and perhaps title, input, filters, order, days and selected"
    ).required()

    /// What it understands: `sections`, which it needs.
    public static var settings: [Setting] { [sections.setting] }

    /// Makes the sections, without any reported value; throws with the place of whatever makes no sense.
    public init(context: ComponentContext) throws {
        facets = try FacetReader(fields: context.fields)
            .read(.list(context.settings[Self.sections]))
    }

    /// What the sections' settings select.
    public var preselection: Selection {
        Selection(
            Dictionary(facets.map { ($0.section.id, $0.preselected) }) { first, _ in first })
    }

    /// The fields of those sections whose filters come from values.
    public var observedFields: [String] {
        var seen: Set<String> = []
        return facets.filter(\.followsValues).map(\.field.name)
            .filter { seen.insert($0).inserted }
    }

    /// Offers a filter for each value; a field that is not among them has none any more.
    ///
    /// Further values of the fields in `cut` can be selected, too.
    public func fieldValuesDidChange(_ values: [String: [Value]], cut: Set<String>) {
        for index in facets.indices where facets[index].followsValues {
            let field = facets[index].field.name
            facets[index].offer(values[field] ?? [], isCut: cut.contains(field))
        }
    }

    /// The sections on offer, in the order of the settings.
    public var sections: [FilterSection] { facets.map(\.section) }

    /// The filter with this id: one on offer, a range or a text that a person wrote, or a value that no item has now;
    /// the error names what there is.
    public func filter(_ id: String, in section: String) throws(Refusal) -> Filter {
        guard let facet = facets.first(where: { $0.section.id == section }) else {
            throw unknown(id, in: section)
        }
        if let filter = facet.filter(id) { return filter }
        throw unknown(id, of: facet)
    }
}

extension Facets {
    /// Adds the filter; in a section that is not `several` it replaces the one before; the error names what there is.
    ///
    /// A person selects what is on offer: a value that no item has is a mistake, unless it is selected already, or
    /// the field has more values than are on offer.
    public func select(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection {
        let filter = try self.filter(filter, in: section).id
        var selection = selection
        guard let facet = facets.first(where: { $0.section.id == section }),
            !selection[section].contains(where: { facet.isSame($0, as: filter) })
        else { return selection }
        guard facet.offers(filter) else { throw unknown(filter, of: facet) }
        if facet.section.input == .several {
            selection[section].append(filter)
        } else {
            selection[section] = [filter]
        }
        return selection
    }

    /// Takes the filter out, however it and what is selected are written; throws for a section that is not there.
    public func deselect(
        _ filter: String, in section: String, of selection: Selection, on screen: String
    ) throws(Refusal) -> Selection {
        guard let facet = facets.first(where: { $0.section.id == section }) else {
            throw unknown(filter, in: section)
        }
        var selection = selection
        selection[section].removeAll { facet.isSame($0, as: filter) }
        return selection
    }

    private func unknown(_ filter: String, in section: String) -> Refusal {
        Refusal(
            .filterNotFound,
            "There is no section '\(section)'\(hint(section, facets.map(\.section.id))).",
            evidence: ["section": section, "filter": filter])
    }

    private func unknown(_ filter: String, of facet: Facet) -> Refusal {
        Refusal(
            .filterNotFound,
            "The section '\(facet.section.id)' has no filter "
                + "'\(filter)'\(facet.expectation(insteadOf: filter)).",
            evidence: ["section": facet.section.id, "filter": filter])
    }
}

/// What there is instead of an unknown name: `; did you mean 'a'? There are: a, b`.
func hint(_ name: String, _ known: [String]) -> String {
    guard !known.isEmpty else { return "; there are none" }
    // A field may have a million values: comparing them letter by letter is not worth it.
    let nearest = nearestName(to: name, among: Array(known.prefix(200))).map {
        "; did you mean '\($0)'? There"
    }
    let rest = known.count > 20 ? " and \(known.count - 20) more" : ""
    return "\(nearest ?? "; there") are: \(known.prefix(20).joined(separator: ", "))\(rest)"
}

/// Exports the facets.
@c(atrium_plugin_org_atrium_facets)
public func facetsPlugin() -> UnsafeMutableRawPointer { exportPlugin(Facets.self) }
