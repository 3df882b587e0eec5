import AtriumKit

/// A predicate made ready to judge one row at a time, as it is or as it was before a change.
indirect enum RowTest {
    case all
    case none
    /// A column holds this code.
    case code(Int, Int32)
    /// A column holds this number.
    case number(Int, Double)
    /// A column's number is in a range.
    case range(Int, NumberRange)
    /// One of the columns holds a text that contains this.
    case contains([Int], Needle)
    /// A column holds nothing.
    case missing(Int)
    case id(String)
    case idContains(Needle)
    case roots
    case under(String)
    case and([RowTest])
    case or([RowTest])
    case not(RowTest)

    /// The parts of a row that it reads.
    var parts: ChangedParts {
        switch self {
        case .all, .none: []
        case .code(let column, _), .number(let column, _), .range(let column, _),
            .missing(let column):
            .column(column)
        case .contains(let columns, _): columns.reduce([]) { $0.union(.column($1)) }
        case .id, .idContains: .presence
        case .roots, .under: .parent
        case .and(let tests), .or(let tests): tests.reduce([]) { $0.union($1.parts) }
        case .not(let test): test.parts
        }
    }

    /// Whether a row that holds an item passes.
    func passes(_ row: RowView) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .code(let column, let code): row.holds(code, in: column)
        case .number(let column, let number): row.number(in: column) == number
        case .range(let column, let range): range.contains(row.number(in: column))
        case .contains(let columns, let needle): row.contains(needle, in: columns)
        case .missing(let column): row.isEmpty(column)
        case .id(let id): row.id == id
        case .idContains(let needle): Folding.fold(row.id).withUnsafeBytes(needle.isIn)
        case .roots: row.isRoot
        case .under(let parent): row.parent == parent
        case .and(let tests): tests.allSatisfy { $0.passes(row) }
        case .or(let tests): tests.contains { $0.passes(row) }
        case .not(let test): !test.passes(row)
        }
    }
}

/// A row as it is, or as it was before a change.
struct RowView {
    let index: ContentIndex
    let row: Int
    /// The values before a change, to test the row as it was; nil: the row as it is.
    let before: RowChange?

    /// The item's id.
    var id: String { before.map { $0.id ?? "" } ?? index.table.id(of: row) }

    /// The item's parent.
    var parent: String? { before.map(\.parent) ?? index.table.parent(of: row) }

    /// Whether the item has no parent that exists.
    var isRoot: Bool { before.map(\.isRoot) ?? index.table.roots.contains(row) }

    /// A column's number, NaN where there is none.
    @inline(__always)
    func number(in column: Int) -> Double {
        if case .number(let number) = before?.value(of: column) { return number }
        guard case .number(let numbers) = index.columns.numbered[column] else { return .nan }
        return numbers.number(of: row) ?? .nan
    }

    @inline(__always)
    func holds(_ code: Int32, in column: Int) -> Bool {
        var isFound = false
        visitCodes(in: column) { isFound = isFound || $0 == code }
        return isFound
    }

    /// Whether one of the columns holds a text that contains another.
    func contains(_ needle: Needle, in columns: [Int]) -> Bool {
        columns.contains { column in
            guard case .text(let texts) = index.columns.numbered[column] else { return false }
            var isFound = false
            visitCodes(in: column) {
                isFound = isFound || texts.values.folded.contains(needle, owner: Int($0))
            }
            return isFound
        }
    }

    /// Whether a column holds nothing.
    func isEmpty(_ column: Int) -> Bool {
        guard case .text = index.columns.numbered[column] else { return number(in: column).isNaN }
        var isEmpty = true
        visitCodes(in: column) { _ in isEmpty = false }
        return isEmpty
    }

    @inline(__always)
    private func visitCodes(in column: Int, _ body: (Int32) -> Void) {
        if case .codes(let codes) = before?.value(of: column) {
            for code in codes { body(code) }
        } else if case .text(let texts) = index.columns.numbered[column] {
            texts.visitCodes(of: row) { body(Int32($0)) }
        }
    }
}

extension ColumnTable {
    /// Returns a predicate's test for single rows, which those pass that ``RowFinder/rows(matching:)`` finds.
    ///
    /// It is correct until a text that it tests is added or removed.
    func test(_ predicate: Predicate) -> RowTest {
        switch predicate {
        case .all: return .all
        case .equals(let field, let value): return test(field: field, equals: value)
        case .range(let field, let lower, let upper):
            guard let column = number(of: field), case .number = numbered[column] else {
                return .none
            }
            return .range(column, NumberRange(lower: lower, upper: upper))
        case .contains(let field, let text):
            guard let needle = Needle(Folding.fold(text)) else { return .all }
            guard let column = number(of: field) else {
                return field == "id" ? .idContains(needle) : .none
            }
            guard case .text = numbered[column] else { return .none }
            return .contains([column], needle)
        case .and(let parts): return .and(parts.map(test))
        case .or(let parts): return .or(parts.map(test))
        case .not(let part): return .not(test(part))
        @unknown default: return .none
        }
    }

    func test(_ scope: ParentScope) -> RowTest {
        switch scope {
        case .all: .all
        case .roots: .roots
        case .under(let parent): .under(parent)
        }
    }

    func test(search text: String?) -> RowTest {
        guard let needle = Needle(text.map(Folding.fold) ?? []) else { return .all }
        return .contains(searchedNumbers, needle)
    }

    private func test(field: String, equals value: Value) -> RowTest {
        guard let column = number(of: field) else {
            return field == "id" ? value.text.map(RowTest.id) ?? .none : .none
        }
        if value.isNull { return .missing(column) }
        switch numbered[column] {
        case .text(let texts):
            // A text that went a moment ago was there before.
            return value.text.flatMap(texts.values.lastCode).map { .code(column, Int32($0)) }
                ?? .none
        case .number(let numbers):
            return numbers.number(value).map { .number(column, $0 + 0) } ?? .none
        }
    }

    /// The parts of a row on which it depends whether a query shows or counts it, whatever values there
    /// are.
    func parts(of query: IndexQuery) -> ChangedParts {
        var parts: ChangedParts = .presence
        if query.parent != .all { parts.insert(.parent) }
        if query.search?.isEmpty == false {
            for column in searchedNumbers { parts.insert(.column(column)) }
        }
        // Most of them are about the field of the one before.
        var last: String?
        for section in query.sections {
            for predicate in section.selected { add(predicate, to: &parts, last: &last) }
            guard query.countsFacets else { continue }
            for predicate in section.offered { add(predicate, to: &parts, last: &last) }
        }
        return parts
    }

    private func add(_ predicate: Predicate, to parts: inout ChangedParts, last: inout String?) {
        switch predicate {
        case .all: break
        case .equals(let field, _), .range(let field, _, _), .contains(let field, _):
            guard field != last else { return }
            last = field
            if let column = number(of: field) { parts.insert(.column(column)) }
        case .and(let more), .or(let more):
            for predicate in more { add(predicate, to: &parts, last: &last) }
        case .not(let predicate): add(predicate, to: &parts, last: &last)
        @unknown default: break
        }
    }
}
