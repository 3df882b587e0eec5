extension JSONReader {
    /// Reads a string that is one of an enumeration's.
    ///
    /// - Parameter type: The enumeration.
    /// - Returns: Its case.
    /// - Throws: ``JSONError`` for another kind of value, and for other strings: it lists the known ones.
    public mutating func readCase<Value: RawRepresentable<String> & CaseIterable>(
        of type: Value.Type
    ) throws(JSONError) -> Value {
        _ = nextByte()
        let start = offset
        let text = try readString()
        guard let value = Value(rawValue: text) else {
            let known = type.allCases.map(\.rawValue).joined(separator: ", ")
            let found = text.count > 40 ? text.prefix(40) + "…" : text[...]
            throw invalidValue(expected: "one of \(known)", found: "'\(found)'", at: start)
        }
        return value
    }
}
