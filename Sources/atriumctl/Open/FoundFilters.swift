import Interfaces

/// Filters of a section that lists only some of its own, found by a text.
struct FoundFilters: Equatable {
    /// What was asked.
    struct Question: Equatable, Sendable {
        /// Of which part of the screen.
        var part: String
        var section: String
        var text: String
        var scope: String?
        var filters: [String: [String]]?
        var search: String?
    }

    var question: Question
    var filters: [Section.Filters]
}

/// A section of filters that can be chosen from where one stands.
struct SectionInReach {
    /// The part of the screen that it is of.
    var part: String
    var section: Section
}

extension Browser {
    /// The sections that can be chosen here: those of the containers around that have no list of their own, or that this one
    /// follows, and its own that follow none.
    var sections: [SectionInReach] {
        var path = ""
        var parts = [""]
        for name in part.split(separator: "/") {
            path += path.isEmpty ? "\(name)" : "/\(name)"
            parts.append(path)
        }
        return parts.enumerated().flatMap { index, part in
            let model = model(of: part)
            let follows = root.followed(in: part, of: container, outlines)
            let followed =
                index + 1 < parts.count
                ? Set(root.followed(in: parts[index + 1], of: container, outlines).values) : nil
            return model.sections.filter { section in
                follows[section.id] == nil
                    && (followed.map { !model.hasLists || $0.contains(section.id) } ?? true)
            }.map { SectionInReach(part: part, section: $0) }
        }
    }

    /// Whether something is selected in them.
    var isFiltered: Bool { sections.contains { $0.section.filters.contains(where: \.selected) } }

    /// Deselects all that is selected in them.
    mutating func clear() -> [Effect] {
        var parts: [String] = []
        for reached in sections where reached.section.filters.contains(where: \.selected) {
            if !parts.contains(reached.part) { parts.append(reached.part) }
        }
        return parts.isEmpty ? [] : chosen(parts.map { .call(.clear, part: $0) })
    }

    /// Asks for what the sections that list only some of their filters have of a text.
    func find(_ text: String) -> [Effect] {
        guard !text.isEmpty else { return [] }
        return sections.filter { $0.section.more == true }.map { reached in
            let (model, search) = (model(of: reached.part), searches[reached.part] ?? "")
            return .call(
                .find(
                    .init(
                        part: reached.part, section: reached.section.id, text: text,
                        scope: model.scope, filters: model.selection,
                        search: search.isEmpty ? nil : search)), part: reached.part)
        }
    }

    /// Takes in what was found.
    mutating func take(found filters: [Section.Filters], for question: FoundFilters.Question) {
        found.removeAll {
            $0.question.part == question.part && $0.question.section == question.section
        }
        found.append(FoundFilters(question: question, filters: filters))
        if case .menu(var menu) = mode {
            menu.settle(choices(menu), height: areas.body - 1)
            mode = .menu(menu)
        }
    }

    /// The sections in reach, with what was found of a text in them.
    func sections(having text: String) -> [SectionInReach] {
        sections.map { reached in
            let found = found.first {
                $0.question.part == reached.part && $0.question.section == reached.section.id
                    && $0.question.text == text
            }
            guard let found else { return reached }
            var reached = reached
            let known = Set(reached.section.filters.map(\.id))
            reached.section.filters += found.filters.filter { !known.contains($0.id) }
            return reached
        }
    }
}
