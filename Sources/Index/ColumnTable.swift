import AtriumKit

/// The columns of an index: those of the declared fields, then those derived.
struct ColumnTable {
    /// The declared fields, whose columns come first.
    let fields: [Field]
    let numbered: [IndexColumn]
    /// The fields' names, sorted, and their columns' numbers.
    let names: [(name: String, column: Int)]
    /// The columns whose values items are put with; they come first in ``numbered``, possibly with dates between them.
    let stored: [(name: String, column: Int)]
    /// The columns whose values are derived from other columns.
    let dates: [DateColumn]
    let searched: [TextColumn]
    /// Their numbers.
    let searchedNumbers: [Int]
    private let named: [String: IndexColumn]

    /// Creates empty columns; if no field is declared `search: true`, a search reads all texts and keywords.
    init(fields: [Field]) {
        let numbered = fields.map { IndexColumn(type: $0.type) } + DerivedValues.columns()
        self.fields = fields
        self.numbered = numbered
        names = (fields.map(\.name) + DerivedValues.names).enumerated()
            .map { ($0.element, $0.offset) }
            .sorted { $0.name < $1.name }
        stored = names.filter { $0.column < fields.count && fields[$0.column].derivation == nil }
        dates = DateColumn.all(of: fields)
        let asked = names.filter { $0.column >= fields.count || fields[$0.column].type != .image }
        named = Dictionary(asked.map { ($0.name, numbered[$0.column]) }) { $1 }
        let texts = fields.indices.filter { if case .text = numbered[$0] { true } else { false } }
        let chosen = texts.filter { fields[$0].search }
        searchedNumbers = chosen.isEmpty ? texts : chosen
        searched = searchedNumbers.compactMap {
            if case .text(let column) = numbered[$0] { column } else { nil }
        }
    }

    /// The fields that can be sorted and filtered by, sorted: all but pictures.
    var asked: [String] { names.map(\.name).filter { named[$0] != nil } }

    /// The columns whose values are derived from votes and comments, which come last.
    var derived: ArraySlice<IndexColumn> { numbered[fields.count...] }

    /// The column of a field; nil for `id`, for a picture, and for a field that does not exist.
    subscript(field: String) -> IndexColumn? { named[field] }

    /// Returns the number of a field's column; nil for `id`, and for a field that does not exist.
    func number(of field: String) -> Int? { names.first { $0.name == field }?.column }

    /// The date that follows from a value of the field of times; nil from none.
    func date(_ date: DateColumn, of value: Value?) -> Double? {
        guard case .number(let times) = numbered[date.source], let value,
            let seconds = times.number(value)
        else { return nil }
        let date = date.date(seconds)
        return date.isNaN ? nil : date
    }

    /// The objects whose memory grows with the items.
    var parts: [AnyObject] {
        numbered.map { column -> AnyObject in
            switch column {
            case .text(let column): column
            case .number(let column): column
            }
        }
    }
}
