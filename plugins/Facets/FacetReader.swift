import AtriumKit

/// Reads the setting `sections`; each mistake is reported with its place.
struct FacetReader {
    /// Which days a calendar has.
    private enum Days: String, CaseIterable {
        case thisWeek = "this-week"
    }

    // The host's limits: it ends a worker whose component offers more.
    private static let sections = 256
    private static let filters = 16_384
    private static let ranges = 1_000

    let fields: [Field]

    func read(_ sections: Value) throws(SettingError) -> [Facet] {
        let known = ["id", "title", "field", "input", "filters", "order", "days", "selected"]
        var facets: [Facet] = []
        for object in try SettingObject.list(sections, at: "sections", known: known) {
            let facet = try facet(object)
            if facets.contains(where: { $0.section.id == facet.section.id }) {
                throw object.error("id", "there is a section '\(facet.section.id)' already")
            }
            facets.append(facet)
        }
        guard !facets.isEmpty else {
            throw SettingError("sections", "expected at least one section, found none")
        }
        try checkCounts(of: facets.map(\.section))
        return facets
    }

    private func checkCounts(of sections: [FilterSection]) throws(SettingError) {
        guard sections.count <= Self.sections else {
            throw SettingError(
                "sections", "\(sections.count) sections, where \(Self.sections) are allowed")
        }
        if let section = sections.first(where: { $0.filters.count > Self.filters }) {
            let count = section.filters.count
            throw SettingError(
                "sections",
                "\(count) filters in '\(section.id)', where \(Self.filters) are allowed")
        }
        let ranges = sections.reduce(0) { count, section in
            count + section.filters.count { if case .range = $0.predicate { true } else { false } }
        }
        guard ranges <= Self.ranges else {
            throw SettingError(
                "sections",
                "filters by \(ranges) ranges in all sections, where \(Self.ranges) are allowed")
        }
    }

    private func facet(_ object: SettingObject) throws(SettingError) -> Facet {
        let id = try object.requiredText("id", "what '--filter ID=…' names it by")
        guard isSectionID(id) else {
            throw object.error(
                "id",
                "expected a lower-case letter and then letters, digits and '-', 63 at most, found "
                    + "'\(id)'")
        }
        let field = try field(object)
        let input = try object.choice("input", SectionInput.self) ?? .several
        try check(input, fits: field, in: object)
        let filters = try filters(object, of: field, input: input)
        let isWeek = try isWeek(object, of: field, input: input, hasFilters: filters != nil)
        let takesValues = !isWeek && (input == .several || input == .single)
        let order = try object.choice("order", ValueOrder.self)
        if order != nil, filters != nil || !takesValues {
            throw object.error(
                "order", "it orders the values of a field; here there are none to order")
        }
        if filters == nil, takesValues, !fields.contains(field) {
            throw object.error(
                "filters", "required for '\(field.name)', whose values are not listed")
        }
        var section = FilterSection(
            id: id, title: try object.text("title") ?? title(of: id), input: input,
            filters: filters ?? [])
        if isWeek { section.weekOf = field.name }
        var facet = Facet(
            section, field: field, order: order ?? .ascending,
            followsValues: filters == nil && takesValues)
        try preselect(object, in: &facet)
        return facet
    }

    /// Whether it offers the days of the present week: a calendar, in place of the dates that items have.
    private func isWeek(
        _ object: SettingObject, of field: Field, input: SectionInput, hasFilters: Bool
    ) throws(SettingError) -> Bool {
        guard try object.choice("days", Days.self) != nil else { return false }
        guard field.derivation?.by == .day else {
            throw object.error(
                "days",
                "it takes a field of the type date, 'by: day'; '\(field.name)' is "
                    + (field.derivation.map { "by \($0.by.rawValue)" }
                        ?? "of the type \(field.type.rawValue)"))
        }
        guard input == .single || input == .several, !hasFilters else {
            throw object.error("days", "it is for 'input: single' or 'several', without 'filters'")
        }
        return true
    }

    private func preselect(
        _ object: SettingObject, in facet: inout Facet
    ) throws(SettingError) {
        let selected = try selected(object, in: facet.section)
        guard let unknown = facet.preselect(selected) else { return }
        let present = facet.present.map { ", or '\($0.id)'" } ?? ""
        throw object.error(
            "selected",
            "there is no filter '\(unknown)'\(facet.expectation(insteadOf: unknown))\(present)")
    }

    /// The ids of what is selected on screens that are opened without a selection: one, or a list.
    private func selected(
        _ object: SettingObject, in section: FilterSection
    ) throws(SettingError) -> [String] {
        guard let value = object["selected"] else { return [] }
        let values = value.list ?? [value]
        let ids = values.compactMap(\.plainText).filter { !$0.isEmpty }
        guard !ids.isEmpty, ids.count == values.count else {
            throw object.error("selected", "expected a filter's id, or a list of ids")
        }
        guard ids.count == 1 || section.input == .several else {
            throw object.error(
                "selected", "expected one; a section takes more with 'input: several'")
        }
        return ids
    }

    private func field(_ object: SettingObject) throws(SettingError) -> Field {
        let name = try object.requiredText("field", "which field of the items it is about")
        if let field = (fields + Field.derived).first(where: { $0.name == name }) {
            guard field.type != .image else {
                throw object.error(
                    "field", "'\(name)' is of the type image, which nobody filters by")
            }
            return field
        }
        let known = fields.map(\.name)
        throw object.error("field", "there is no field '\(name)'\(hint(name, known))")
    }

    private func check(
        _ input: SectionInput, fits field: Field, in object: SettingObject
    ) throws(SettingError) {
        let type = field.type.rawValue
        if input == .range, !field.hasRanges {
            throw object.error(
                "input",
                "a range needs a number, integer, duration, time or date; '\(field.name)' is of the "
                    + "type \(type)")
        }
        if input == .text, !field.hasTexts {
            throw object.error(
                "input",
                "a text needs text, keywords, url or markdown; '\(field.name)' is of the type \(type)"
            )
        }
    }

    private func filters(
        _ object: SettingObject, of field: Field, input: SectionInput
    ) throws(SettingError) -> [Filter]? {
        let known = ["id", "title", "from", "to", "value"]
        guard let objects = try object.list("filters", known: known) else { return nil }
        if input == .text {
            throw object.error("filters", "a text is written, not chosen; leave them out")
        }
        if objects.isEmpty {
            throw object.error(
                "filters", "expected at least one; leave it out for one filter for each value")
        }
        let reader = FilterReader(field: field)
        var ids: Set<String> = []
        return try objects.map { object throws(SettingError) in
            let filter = try reader.read(object)
            guard ids.insert(filter.id).inserted else {
                throw object.error("id", "there is a filter '\(filter.id)' already")
            }
            return filter
        }
    }

    private func isSectionID(_ id: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = id.utf8.first, letters.contains(first) else { return false }
        return id.utf8.count <= 63
            && id.utf8.allSatisfy {
                letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    /// `release-year` as `Release year`.
    private func title(of id: String) -> String {
        let words = String(id.map { $0 == "-" ? " " : $0 })
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
