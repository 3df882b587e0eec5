import AtriumKit

/// Finds step by step what a query's search and selections let through, while the index goes on
/// changing: for queries that look at too much for one turn of the loop.
///
/// A step scans one run of texts, or judges one other predicate, and adds what matches to the set of
/// rows of the search or of the section. Rows that change meanwhile are judged again at the end, each
/// by itself. Once ``step()`` returns false, the sets are right until the next change; then
/// ``catchUp()`` judges what changed since, if that is little.
///
/// What is counted is the definition's, but for a few filters that callers write: its sets are put
/// into the index's ``LeafCache``, where the counting finds them.
final class QueryPreparation {
    /// Whose rows.
    let index: ContentIndex
    /// How often it began again, because too much had changed.
    private(set) var restarts = 0

    private enum Part {
        case search(String)
        case predicate(Predicate)
    }

    /// A query begins again so often; where a list changes that fast, its caller is to try later.
    private static let mostRestarts = 8
    /// What was found for so few is kept for the next query.
    private static let mostKept = 16
    /// As many changes of rows, times parts, are judged at once.
    private static let fewTests = 16_384

    private let search: String?
    private let sections: [SectionQuery]
    /// What to find, and into which set it goes.
    private var parts: [(set: Int, part: Part)] = []
    /// The parts in order, as far as they were begun.
    private var tests: [RowTest] = []
    private var sets: [Bitset] = []
    private var searchSet: Int?
    private var sectionSets: [Int?] = []
    /// What is offered and can't be listed.
    private var offered: [Predicate] = []

    /// How many parts are done, and which run of which column comes next.
    private var done = 0
    private var column = 0
    private var run = 0
    /// What was found for the present part, if it is to be kept.
    private var found = Bitset()
    private var partStart: UInt64 = 0
    private var warmed = 0
    /// Up to where in the index's log the changes are judged, once those of `changed` are.
    private var position: UInt64
    private var changed: [Int32] = []
    private var judged = 0
    private var judgedParts = 0
    private var standing: [Bool] = []

    /// Makes ready to find what a query asks for.
    init(_ query: IndexQuery, in index: ContentIndex) {
        self.index = index
        search = query.search
        sections = query.sections
        position = index.log.end
        if case .contains = index.test(search: query.search), let text = query.search {
            searchSet = add([.search(text)])
        }
        for section in query.sections {
            let isLong = section.selected.contains { index.bytes(lookedAtBy: $0) > 0 }
            sectionSets.append(isLong ? add(section.selected.map(Part.predicate)) : nil)
            guard query.countsFacets else { continue }
            offered += section.offered.filter { index.bytes(lookedAtBy: $0) > 0 }
        }
        index.cache.makeRoom(for: offered.count)
        index.startLogging()
    }

    deinit { index.stopLogging() }

    /// Whether the index changes faster than it can be followed.
    var isHopeless: Bool { restarts > Self.mostRestarts }

    /// The rows that the search finds; nil: it finds all.
    var searchRows: MatchingRows? { searchSet.map { .bits(sets[$0]) } }

    /// The rows that a section lets through; nil: they were not looked for, since they are listed.
    func rows(ofSection place: Int) -> MatchingRows? { sectionSets[place].map { .bits(sets[$0]) } }

    /// Whether what it finds is what a query asks an index for.
    func isFor(_ query: IndexQuery, in index: ContentIndex) -> Bool {
        index === self.index && query.search == search && query.sections == sections
    }

    /// Does a little.
    ///
    /// - Returns: False: all is found, and right until the next change; or it is hopeless.
    func step() -> Bool {
        guard index.log.count(since: position) != nil else { return beginAgain() }
        if done < parts.count {
            find()
            return true
        }
        if warmed < offered.count {
            _ = index.rows(matching: offered[warmed])
            warmed += 1
            return true
        }
        return judge()
    }

    /// Makes the sets right again, if little has changed since they were.
    ///
    /// - Returns: Whether they are.
    func catchUp() -> Bool {
        guard done == parts.count, !isHopeless, let count = index.log.count(since: position),
            count * max(parts.count, 1) <= Self.fewTests
        else { return false }
        while step() {}
        return !isHopeless
    }

    private func add(_ new: [Part]) -> Int {
        parts += new.map { (sets.count, $0) }
        sets.append(Bitset())
        return sets.count - 1
    }

    private func beginAgain() -> Bool {
        restarts += 1
        (done, column, run, warmed, judged, judgedParts) = (0, 0, 0, 0, 0, 0)
        (tests, changed, standing, found) = ([], [], [], Bitset())
        sets = sets.map { _ in Bitset() }
        position = index.log.end
        return !isHopeless
    }
}

// MARK: Finding

extension QueryPreparation {
    private var isKept: Bool { parts.count <= Self.mostKept }

    /// Goes on with the present part.
    private func find() {
        let (set, part) = parts[done]
        if tests.count == done {
            tests.append(test(part))
            (column, run, found, partStart) = (0, 0, Bitset(), index.log.end)
            if isKept, let rows = index.knownRows(tests[done], leaf(of: part)) {
                sets[set].formUnion(rows)
                done += 1
                return
            }
        }
        guard case .contains(let columns, let needle) = tests[done] else {
            if case .predicate(let predicate) = part {
                index.rows(matching: predicate).add(to: &sets[set], of: index)
            }
            done += 1
            return
        }
        if column < columns.count, case .text(let texts) = index.numbered[columns[column]],
            run < texts.runCount
        {
            if isKept {
                texts.collectRows(containing: needle, inRun: run, into: &found)
            } else {
                texts.collectRows(containing: needle, inRun: run, into: &sets[set])
            }
            run += 1
        } else if column < columns.count {
            (column, run) = (column + 1, 0)
        } else {
            if isKept { keep(set) }
            done += 1
        }
    }

    private func keep(_ set: Int) {
        sets[set].formUnion(found)
        guard let leaf = leaf(of: parts[done].part), let count = index.log.count(since: partStart),
            count <= 64
        else { return }
        for change in index.log.changes(since: partStart) {
            let row = RowView(index: index, row: Int(change.row), before: nil)
            found.set(row.row, to: tests[done].passes(row))
        }
        index.cache.keep(found, for: leaf)
    }

    /// What the cache keeps a text's rows under; nil for anything else.
    private func leaf(of part: Part) -> LeafCache.Leaf? {
        guard case .contains(_, let needle) = tests[done] else { return nil }
        return switch part {
        case .search: .search(needle: needle.bytes)
        case .predicate(.contains(let field, _)): .contains(field: field, needle: needle.bytes)
        case .predicate: nil
        }
    }

    private func test(_ part: Part) -> RowTest {
        switch part {
        case .search(let text): index.test(search: text)
        case .predicate(let predicate): index.test(predicate)
        }
    }
}

// MARK: Following

extension QueryPreparation {
    /// Judges a row that changed by some of the parts.
    ///
    /// - Returns: False: none is left.
    private func judge() -> Bool {
        if judged == changed.count {
            guard index.log.end != position else { return false }
            changed = index.log.changes(since: position).map(\.row)
            (judged, judgedParts, position) = (0, 0, index.log.end)
            guard judged < changed.count else { return true }
        }
        if judgedParts == 0 { standing = Array(repeating: false, count: sets.count) }
        let row = RowView(index: index, row: Int(changed[judged]), before: nil)
        let end = min(judgedParts + 64, parts.count)
        if index.table.occupied.contains(row.row) {
            for place in judgedParts..<end where !standing[parts[place].set] {
                standing[parts[place].set] = present(place).passes(row)
            }
        }
        judgedParts = end
        guard judgedParts == parts.count else { return true }
        for (set, isMember) in standing.enumerated() { sets[set].set(row.row, to: isMember) }
        (judged, judgedParts) = (judged + 1, 0)
        return true
    }

    /// A part's test: those that know texts by their codes are made anew, for texts come and go.
    private func present(_ place: Int) -> RowTest {
        if case .contains = tests[place] { tests[place] } else { test(parts[place].part) }
    }
}

extension ContentIndex {
    /// A query that looks at no more bytes than this is answered at once.
    private static let fewBytes = 4 << 20

    /// Whether a query looks at so much that it is to be prepared step by step.
    func isLong(_ query: IndexQuery) -> Bool {
        var bytes = 0
        if query.search?.isEmpty == false {
            bytes += searched.reduce(4_096) { $0 + $1.byteCount }
        }
        for section in query.sections {
            for predicate in section.selected { bytes += self.bytes(lookedAtBy: predicate) }
            guard query.countsFacets else { continue }
            for predicate in section.offered { bytes += self.bytes(lookedAtBy: predicate) }
        }
        return bytes > Self.fewBytes
    }

    /// How many bytes a predicate looks at, roughly, if nothing is known of it; 0 where the rows are
    /// listed.
    func bytes(lookedAtBy predicate: Predicate) -> Int {
        switch predicate {
        case .all: return 0
        case .equals(_, let value): return value.isNull ? 16 * table.end : 0
        case .range: return 4_096 + 8 * table.end
        case .contains(let field, _):
            guard case .text(let column) = columns[field] else { return 4_096 + 256 * table.end }
            return 4_096 + column.byteCount
        case .and(let parts), .or(let parts):
            return parts.reduce(table.end / 8) { $0 + bytes(lookedAtBy: $1) }
        case .not(let part): return table.end / 8 + bytes(lookedAtBy: part)
        @unknown default: return 0
        }
    }

    /// The rows that are kept for a text, as they are now; nil where none are.
    fileprivate func knownRows(_ test: RowTest, _ leaf: LeafCache.Leaf?) -> Bitset? {
        guard let leaf else { return nil }
        return cache.known(leaf) { row in
            table.occupied.contains(row)
                && test.passes(RowView(index: self, row: row, before: nil))
        }
    }
}

extension MatchingRows {
    /// Adds what matches to a set of rows.
    fileprivate func add(to rows: inout Bitset, of index: ContentIndex) {
        switch self {
        case .all: rows.formUnion(index.table.occupied)
        case .none: break
        case .listed(let postings): postings.formUnion(into: &rows)
        case .bits(let bits): rows.formUnion(bits)
        }
    }
}
