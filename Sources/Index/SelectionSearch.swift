import AtriumKit

/// Finds the rows of a query's search, selections and counted filters step by step, while the index continues to
/// change.
///
/// A step is one of a ``RowSearch``. Rows that change meanwhile are judged again at the end, each by itself. Once
/// ``step()`` returns `.done`, the sets are correct until the next change.
///
/// It has a set for the search, for each section with a selection, and for each counted filter whose rows have to be
/// read. The number of filters that users write is limited; other filters are declared by their component. The sets are
/// in memory until the query is answered.
final class SelectionSearch {
    /// The progress after a step.
    enum Progress {
        /// Further steps are needed.
        case more
        /// All is found, and right until the next change.
        case done
        /// More changed than the log can hold: the search has to begin again.
        case lost
    }

    /// Something to find, and the sets that it goes into.
    private struct Part {
        let wanted: RowSearch.Wanted
        var sets: [Int]
    }

    /// The maximum number of parts whose rows are kept for the next query; if filters are counted, all are kept.
    private static let mostKept = 16
    /// The maximum number of parts that are judged in a step, and of rows of a number that are listed.
    private static let partsInStep = 64
    private static let rowsInStep = 4_096

    private let index: ContentIndex
    private let isKept: Bool
    private var parts: [Part] = []
    private var sets: [Bitset] = []
    private var searchSet: Int?
    private var sectionSets: [Int?] = []
    private var filterSets: [Predicate: Int] = [:]
    /// The columns of numbers whose rows are to be listed by number.
    private var unlisted: [NumberColumn] = []

    /// The number of parts that are done, and the search for the next.
    private var done = 0
    private var present: RowSearch?
    /// The parts in order, as far as they are done.
    private var tests: [RowTest] = []
    /// The position in the index's log up to which changes are judged, once those of `changed` are.
    private var position: UInt64
    private var changed: [Int32] = []
    private var judged = 0
    private var judgedParts = 0
    private var standing: [Bool] = []

    /// Prepares the search for a query's parts; the caller keeps the index's log written.
    init(_ query: IndexQuery, in index: ContentIndex) {
        self.index = index
        position = index.log.end
        var finder = PartFinder()
        if case .contains = index.columns.test(search: query.search), let text = query.search {
            searchSet = finder.add(.search(text))
        }
        for section in query.sections {
            let isLong = section.selected.contains { $0.bytesRead(in: index) > 0 }
            sectionSets.append(isLong ? finder.addSet() : nil)
            for predicate in section.selected where isLong {
                finder.add(.predicate(predicate), to: finder.sets - 1)
            }
        }
        if query.countsFacets {
            for predicate in query.sections.lazy.flatMap(\.offered)
            where !predicate.isListed && filterSets[predicate] == nil {
                filterSets[predicate] = finder.add(.predicate(predicate))
            }
        }
        parts = finder.parts
        sets = Array(repeating: Bitset(), count: finder.sets)
        isKept = query.countsFacets || parts.count <= Self.mostKept
        index.finder.leaves.makeRoom(for: filterSets.count)
        unlisted = query.unlistedColumns(in: index)
    }

    /// The rows that the search finds; nil: it finds all.
    var searchRows: MatchingRows? { searchSet.map { .bits(sets[$0]) } }

    /// The rows that a section lets through; nil: they were not looked for, since they are listed.
    func rows(ofSection place: Int) -> MatchingRows? { sectionSets[place].map { .bits(sets[$0]) } }

    /// The rows that a counted filter lets through; nil: as for a section.
    func rows(matching predicate: Predicate) -> MatchingRows? {
        predicate.isListed ? nil : filterSets[predicate].map { .bits(sets[$0]) }
    }

    func step() -> Progress {
        guard index.log.count(since: position) != nil else { return .lost }
        if let column = unlisted.last {
            if !column.list(atMost: Self.rowsInStep) { unlisted.removeLast() }
            return .more
        }
        if done < parts.count {
            find()
            return .more
        }
        return judge() ? .more : .done
    }

    /// Collects the parts to find, each once, however often the query has it.
    private struct PartFinder {
        var parts: [Part] = []
        var sets = 0
        private var places: [RowSearch.Wanted: Int] = [:]

        /// A further set.
        mutating func addSet() -> Int {
            sets += 1
            return sets - 1
        }

        /// Adds something with a set of its own.
        mutating func add(_ wanted: RowSearch.Wanted) -> Int {
            let set = addSet()
            add(wanted, to: set)
            return set
        }

        /// Adds something to a set.
        mutating func add(_ wanted: RowSearch.Wanted, to set: Int) {
            guard let place = places[wanted] else {
                places[wanted] = parts.count
                return parts.append(Part(wanted: wanted, sets: [set]))
            }
            if !parts[place].sets.contains(set) { parts[place].sets.append(set) }
        }
    }
}

// MARK: Finding and following

extension SelectionSearch {
    /// Continues with the present part.
    private func find() {
        let part = parts[done]
        var search = present ?? RowSearch(part.wanted)
        present = nil
        if search.step(in: index, keeping: isKept) {
            present = search
            return
        }
        for set in part.sets {
            if sets[set].words.isEmpty {
                sets[set] = search.rows
            } else {
                sets[set].formUnion(search.rows)
            }
        }
        tests.append(test(part))
        done += 1
    }

    /// Judges a row that changed by some of the parts; returns false if none is left.
    private func judge() -> Bool {
        if judged == changed.count {
            guard index.log.end != position else { return false }
            changed = index.log.changes(since: position).map(\.row)
            (judged, judgedParts, position) = (0, 0, index.log.end)
            guard judged < changed.count else { return true }
        }
        if judgedParts == 0 { standing = Array(repeating: false, count: sets.count) }
        let row = RowView(index: index, row: Int(changed[judged]), before: nil)
        let end = min(judgedParts + Self.partsInStep, parts.count)
        if index.table.occupied.contains(row.row) {
            for place in judgedParts..<end {
                let isKnown = parts[place].sets.allSatisfy { standing[$0] }
                guard !isKnown, currentTest(place).passes(row) else { continue }
                for set in parts[place].sets { standing[set] = true }
            }
        }
        judgedParts = end
        guard judgedParts == parts.count else { return true }
        for (set, isMember) in standing.enumerated() { sets[set].set(row.row, to: isMember) }
        (judged, judgedParts) = (judged + 1, 0)
        return true
    }

    private func test(_ part: Part) -> RowTest {
        switch part.wanted {
        case .search(let text): index.columns.test(search: text)
        case .predicate(let predicate): index.columns.test(predicate)
        }
    }

    /// A part's test: those that know texts by their codes are made anew, for texts come and go.
    private func currentTest(_ place: Int) -> RowTest {
        if case .contains = tests[place] { tests[place] } else { test(parts[place]) }
    }
}
