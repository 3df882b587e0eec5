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
        /// Where something is: an `https`, `http` or `mailto` address. Searched, sorted and filtered as text.
        case url
        /// A picture: the `https` or `http` address of one, or a `data:image/…;base64,…`. Neither searched
        /// nor sorted nor filtered.
        case image
        /// Text in Markdown, as it was written. Searched, sorted and filtered as text.
        case markdown
    }

    /// The name: `[a-z][a-zA-Z0-9_-]{0,62}`.
    public var name: String
    /// What values it takes.
    public var type: FieldType
    /// Whether every item must have it.
    public var required: Bool
    /// Whether a text search looks at it; texts, keywords, URLs and Markdown alone.
    public var search: Bool
    /// The least value allowed; numbers alone.
    public var min: Double?
    /// The greatest value allowed; numbers alone.
    public var max: Double?
    /// What people read in place of the name; nil: the name.
    public var title: String?
    /// What its numbers are of, such as `km` or `€`; numbers alone.
    public var unit: String?
    /// What it means, in a sentence; nil: that is plain to see.
    public var summary: String?

    /// A field; optional, not searched, unbounded and without words of its own unless told.
    public init(
        name: String, type: FieldType, required: Bool = false, search: Bool = false,
        min: Double? = nil, max: Double? = nil, title: String? = nil, unit: String? = nil,
        summary: String? = nil
    ) {
        self.name = name
        self.type = type
        self.required = required
        self.search = search
        self.min = min
        self.max = max
        self.title = title
        self.unit = unit
        self.summary = summary
    }
}
