import Interfaces

/// A section of filters that can be chosen from where one stands.
struct SectionInReach {
    /// The part of the screen that it is of.
    var part: String
    var section: Section
}

/// Filters, found by a text, of sections that list only some of theirs.
struct FilterLookup {
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

    private var found: [(question: Question, filters: [Section.Filters])] = []

    /// Adds what was found, in place of what was found in the section before.
    mutating func add(_ filters: [Section.Filters], for question: Question) {
        found.removeAll {
            $0.question.part == question.part && $0.question.section == question.section
        }
        found.append((question, filters))
    }

    /// Adds to sections what was found of a text in them.
    func adding(to sections: [SectionInReach], having text: String) -> [SectionInReach] {
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
