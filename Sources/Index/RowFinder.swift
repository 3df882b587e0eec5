import AtriumKit

/// The rows that match a predicate, in the form in which they are available.
enum MatchingRows {
    /// Every row that holds an item.
    case all
    /// No row.
    case none
    /// The rows of one value.
    case listed(Postings)
    /// These; bits of rows that hold no item mean nothing.
    case bits(Bitset)

    /// Keeps only the matching rows in the set.
    func narrow(_ rows: inout Bitset) {
        switch self {
        case .all: break
        case .none: rows = Bitset()
        case .listed(let postings): rows.formIntersection(postings.bitset)
        case .bits(let bits): rows.formIntersection(bits)
        }
    }

    /// Returns the number of rows of the set that match.
    func count(in rows: Bitset, total: Int) -> Int {
        switch self {
        case .all: total
        case .none: 0
        case .listed(let postings): postings.count(in: rows)
        case .bits(let bits): bits.intersectionCount(rows)
        }
    }

    /// The number of rows, or of words of 64 rows, that ``count(in:total:)`` reads.
    var looks: Int {
        switch self {
        case .all, .none: 1
        case .listed(let postings): postings.looks
        case .bits(let bits): bits.words.count
        }
    }
}

/// Finds the rows of an index that match a predicate or a search.
final class RowFinder {
    let table: RowTable
    let columns: ColumnTable
    /// The results of scans.
    var leaves = LeafCache()

    init(_ table: RowTable, _ columns: ColumnTable) {
        (self.table, self.columns) = (table, columns)
    }

    /// Returns the rows that match a predicate.
    ///
    /// A value that is not of the field's type, and a field that does not exist, match nothing.
    func rows(matching predicate: Predicate) -> MatchingRows {
        switch predicate {
        case .all: .all
        case .equals(let field, let value): rows(field: field, equals: value)
        case .range(let field, let lower, let upper):
            rows(field: field, in: NumberRange(lower: lower, upper: upper))
        case .contains(let field, let text): rows(field: field, contains: text)
        case .and(let parts): rows(matchingAllOf: parts)
        case .or(let parts): rows(matchingAnyOf: parts)
        case .not(let part): rows(notMatching: part)
        // A newer kit's predicate, which this host cannot judge.
        @unknown default: .none
        }
    }

    /// The rows that match any of the predicates; none given, no row.
    func rows(matchingAnyOf parts: [Predicate]) -> MatchingRows {
        if parts.count == 1 { return rows(matching: parts[0]) }
        var union = Bitset()
        for part in parts {
            switch rows(matching: part) {
            case .all: return .all
            case .none: break
            case .listed(let postings): postings.formUnion(into: &union)
            case .bits(let bits): union.formUnion(bits)
            }
        }
        return .bits(union)
    }

    /// Returns the rows in which any searched field contains the text; nil, and a text that folds to nothing, match
    /// all.
    func rows(matchingSearch text: String?) -> MatchingRows {
        let folded = text.map(Folding.fold) ?? []
        guard let needle = Needle(folded) else { return .all }
        let rows = leaves.rows(for: .search(needle: folded)) { row in
            columns.searched.contains { $0.contains(needle, row: row) }
        } find: {
            var rows = Bitset()
            for column in columns.searched { column.collectRows(containing: needle, into: &rows) }
            return rows
        }
        return .bits(rows)
    }

    private func rows(matchingAllOf parts: [Predicate]) -> MatchingRows {
        if parts.isEmpty { return .all }
        var common = table.occupied
        for part in parts { rows(matching: part).narrow(&common) }
        return .bits(common)
    }

    private func rows(notMatching part: Predicate) -> MatchingRows {
        var others = table.occupied
        switch rows(matching: part) {
        case .all: return .none
        case .none: return .all
        case .listed(let postings): others.subtract(postings.bitset)
        case .bits(let bits): others.subtract(bits)
        }
        return .bits(others)
    }

    private func rows(field: String, equals value: Value) -> MatchingRows {
        guard let column = columns[field] else {
            guard field == "id", let row = value.text.flatMap(table.row) else { return .none }
            var rows = Postings()
            rows.insert(row)
            return .listed(rows)
        }
        if value.isNull {
            var others = table.occupied
            others.subtract(column.rowsWithValue(below: table.end))
            return .bits(others)
        }
        let postings: Postings? =
            switch column {
            case .text(let column): value.text.flatMap(column.rows)
            case .number(let column): column.number(value).flatMap(column.rows)
            }
        return postings.map(MatchingRows.listed) ?? .none
    }

    private func rows(field: String, in range: NumberRange) -> MatchingRows {
        guard case .number(let column) = columns[field] else { return .none }
        let rows = leaves.rows(for: .range(field: field, range)) { row in
            column.number(of: row).map(range.contains) ?? false
        } find: {
            column.rows(in: range)
        }
        return .bits(rows)
    }

    private func rows(field: String, contains text: String) -> MatchingRows {
        let folded = Folding.fold(text)
        guard let needle = Needle(folded) else { return .all }
        guard let column = columns[field] else {
            return field == "id" ? .bits(rowsWithID(containing: needle)) : .none
        }
        guard case .text(let column) = column else { return .none }
        let leaf = LeafCache.Leaf.contains(field: field, needle: folded)
        let rows = leaves.rows(for: leaf) { row in
            column.contains(needle, row: row)
        } find: {
            var rows = Bitset()
            column.collectRows(containing: needle, into: &rows)
            return rows
        }
        return .bits(rows)
    }

    private func rowsWithID(containing needle: Needle) -> Bitset {
        var rows = Bitset()
        table.occupied.visit { row in
            let id = Folding.fold(table.id(of: row))
            if id.withUnsafeBytes(needle.isIn) { rows.insert(row) }
        }
        return rows
    }
}
