/// A field of a container's items, as its definition declares it.
public struct Field: Sendable, Hashable {
    /// What values a field takes.
    public enum FieldType: String, Sendable, Hashable, CaseIterable {
        /// Text.
        case text
        /// A list of words; a filter matches any of them.
        case keywords
        /// A finite number.
        case number
        /// A whole number.
        case integer
        /// True or false.
        case boolean
        /// Seconds, 0 or more.
        case duration
        /// A moment: RFC 3339 text, or a date `2026-01-31`.
        case time
    }

    /// The name: `[a-z][a-zA-Z0-9_-]{0,62}`.
    public var name: String
    /// What values it takes.
    public var type: FieldType
    /// Whether every item must have it.
    public var required: Bool
    /// Whether a text search looks at it; text and keywords alone.
    public var search: Bool
    /// The least value allowed; numbers alone.
    public var min: Double?
    /// The greatest value allowed; numbers alone.
    public var max: Double?

    /// A field; optional, not searched and unbounded unless told.
    public init(
        name: String, type: FieldType, required: Bool = false, search: Bool = false,
        min: Double? = nil, max: Double? = nil
    ) {
        self.name = name
        self.type = type
        self.required = required
        self.search = search
        self.min = min
        self.max = max
    }
}
