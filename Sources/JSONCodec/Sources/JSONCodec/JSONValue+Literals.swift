extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes ``null``.
    ///
    /// - Parameter nilLiteral: Nothing.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Makes a ``bool(_:)``.
    ///
    /// - Parameter value: The literal.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Makes an ``int(_:)``.
    ///
    /// - Parameter value: The literal.
    public init(integerLiteral value: Int64) {
        self = .int(value)
    }

    /// Makes a ``double(_:)``.
    ///
    /// - Parameter value: The literal.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    /// Makes a ``string(_:)``.
    ///
    /// - Parameter value: The literal.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes an ``array(_:)``.
    ///
    /// - Parameter elements: The literals.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Makes an ``object(_:)``; of duplicate names, the last one counts.
    ///
    /// - Parameter elements: The members, in order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object([])
        for (name, value) in elements { self[name] = value }
    }
}
