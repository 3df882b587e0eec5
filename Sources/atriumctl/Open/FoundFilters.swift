import Interfaces

/// Filters of a section that lists only some of its own, found by a text.
struct FoundFilters: Equatable {
    /// What was asked.
    struct Question: Equatable, Sendable {
        var section: String
        var text: String
        var scope: String?
        var filters: [String: [String]]?
        var search: String?
    }

    var question: Question
    var filters: [Section.Filters]
}

extension Browser {
    /// Asks for what the sections that list only some of their filters have of a text.
    func find(_ text: String) -> [Effect] {
        guard !text.isEmpty else { return [] }
        return model.sections.filter { $0.more == true }.map { section in
            .call(
                .find(
                    .init(
                        section: section.id, text: text, scope: model.scope,
                        filters: model.selection, search: search.isEmpty ? nil : search)))
        }
    }

    /// Takes in what was found.
    mutating func take(found filters: [Section.Filters], for question: FoundFilters.Question) {
        found[question.section] = FoundFilters(question: question, filters: filters)
        if case .menu(var menu) = mode {
            menu.settle(choices(menu), height: areas.body - 1)
            mode = .menu(menu)
        }
    }

    /// The model, with what was found of a text in its sections.
    func sections(having text: String) -> [Section] {
        model.sections.map { section in
            guard let found = found[section.id], found.question.text == text else { return section }
            var section = section
            let known = Set(section.filters.map(\.id))
            section.filters += found.filters.filter { !known.contains($0.id) }
            return section
        }
    }
}
