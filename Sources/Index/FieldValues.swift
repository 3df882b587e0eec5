package import AtriumKit

/// The distinct values of an index's fields, which filters are offered for.
package struct FieldValues {
    private let columns: ColumnTable
    /// Random, so that versions of different lists never match.
    private let firstVersion = UInt64.random(in: 0..<1 << 60)

    init(_ columns: ColumnTable) { self.columns = columns }

    /// Returns the distinct values of a field, sorted: numbers ascending, texts by folded form.
    ///
    /// Booleans are returned as such, times in canonical form. Empty for a field that does not exist. If there are more
    /// values than the limit, it returns those of the most items, as of the last change of ``version(of:atMost:)``.
    package func distinct(of field: String, atMost limit: Int = .max) -> [Value] {
        columns[field]?.distinctValues(atMost: limit) ?? []
    }

    /// Values of a field in the order of ``distinct(of:atMost:)``, also those that are not here.
    package func sorted(_ values: [Value], of field: String) -> [Value] {
        columns[field]?.sorted(values) ?? values
    }

    /// Returns a search that finds ``distinct(of:atMost:)`` step by step, if that takes long; nil: they are known.
    package func search(of field: String, atMost limit: Int) -> ValueSearch? {
        columns[field]?.search(atMost: limit)
    }

    /// Returns the number of distinct values of a field.
    package func count(of field: String) -> Int { columns[field]?.valueCount ?? 0 }

    /// A number that is another one when the distinct values of any of these fields have changed, and in
    /// another index; those of a field that has more than the limit are looked for again after many changes.
    package func version(of fields: [String], atMost limit: Int = .max) -> UInt64 {
        fields.reduce(firstVersion) { $0 + (columns[$1]?.version(atMost: limit) ?? 0) }
    }
}
