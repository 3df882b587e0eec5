import AtriumKit

extension IndexQuery {
    /// The maximum number of bytes that a query may read to be answered at once.
    private static let fewBytes = 4 << 20

    /// Whether the query reads so much of an index that it has to be prepared step by step.
    package func isLong(in index: ContentIndex) -> Bool {
        var bytes = 0
        if search?.isEmpty == false {
            bytes += index.columns.searched.reduce(4_096) { $0 + $1.byteCount }
        }
        for section in sections {
            for predicate in section.selected { bytes += predicate.bytesRead(in: index) }
            guard countsFacets else { continue }
            for predicate in section.offered { bytes += predicate.bytesRead(in: index) }
        }
        return bytes > Self.fewBytes
    }

    /// Returns the columns of numbers that the query compares with single values, and whose rows are not listed yet.
    func unlistedColumns(in index: ContentIndex) -> [NumberColumn] {
        var fields: Set<String> = []
        for section in sections {
            for predicate in section.selected { predicate.addFields(listed: &fields) }
            guard countsFacets else { continue }
            for predicate in section.offered { predicate.addFields(listed: &fields) }
        }
        return fields.compactMap { field in
            guard case .number(let column) = index.columns[field], column.unlistedCount > 0 else {
                return nil
            }
            return column
        }
    }
}

extension Predicate {
    /// Whether all rows that it needs are listed, so that none has to be read to find them.
    package var isListed: Bool {
        switch self {
        case .all: true
        case .equals(_, let value): !value.isNull
        default: false
        }
    }

    /// Returns the approximate number of bytes that the predicate reads if no result of it is kept; 0 if its rows are
    /// listed.
    func bytesRead(in index: ContentIndex) -> Int {
        switch self {
        case .all: return 0
        case .equals(_, let value) where value.isNull: return 16 * index.rowCount
        case .equals(let field, _):
            // The first time the rows are listed by their numbers.
            guard case .number(let column) = index.columns[field] else { return 0 }
            return 256 * column.unlistedCount
        case .range: return 4_096 + 8 * index.rowCount
        case .contains(let field, _):
            guard case .text(let column) = index.columns[field] else {
                return 4_096 + 256 * index.rowCount
            }
            return 4_096 + column.byteCount
        case .and(let parts), .or(let parts):
            return parts.reduce(index.rowCount / 8) { $0 + $1.bytesRead(in: index) }
        case .not(let part): return index.rowCount / 8 + part.bytesRead(in: index)
        @unknown default: return 0
        }
    }

    /// Adds the fields that the predicate compares with single values.
    fileprivate func addFields(listed fields: inout Set<String>) {
        switch self {
        case .equals(let field, _): fields.insert(field)
        case .and(let parts), .or(let parts):
            for part in parts { part.addFields(listed: &fields) }
        case .not(let part): part.addFields(listed: &fields)
        default: break
        }
    }
}
