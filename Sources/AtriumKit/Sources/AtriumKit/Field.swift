/// A field of a container's items, as its definition declares it.
public struct Field: Sendable, Hashable, Codable {
    /// What values a field takes.
    public enum FieldType: String, Sendable, Hashable, Codable, CaseIterable {
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
        /// A picture: the `https` or `http` address of one, a `data:image/…;base64,…`, or `source:NAME`, which
        /// its source gives (``ImageProviding``). Neither searched nor sorted nor filtered.
        case image
        /// Text in Markdown, as it was written. Searched, sorted and filtered as text.
        case markdown
        /// A day `2026-01-31`, which follows from a time: the first of a day, a week or a month.
        ///
        /// A predicate's range counts it as the time that is its midnight in UTC.
        case date
    }

    /// What a date is the first day of.
    public enum Bucket: String, Sendable, Hashable, Codable, CaseIterable {
        /// The day itself.
        case day
        /// A week, from Monday.
        case week
        /// A month.
        case month
    }

    /// How a date follows from another field.
    public struct Derivation: Sendable, Hashable, Codable {
        /// The field of the type `time`; an item without it has no date.
        public var of: String
        /// What the date is the first day of.
        public var by: Bucket
        /// The time zone that decides which day a time belongs to, such as `Europe/Rome`.
        public var zone: String

        /// A derivation.
        public init(of: String, by: Bucket, zone: String) {
            self.of = of
            self.by = by
            self.zone = zone
        }
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
    /// How it follows from another field: no item is put with it; nil: items are.
    public var derivation: Derivation?
    /// The time zone in which the host reads a time that is put without an offset; nil: it takes none.
    ///
    /// Times alone.
    public var zone: String?
    /// Whether it stays out of lists, and comes with the item that a screen is focused on, or that is read alone.
    public var details: Bool

    /// A field; optional, not searched, unbounded, in lists and without words of its own by default.
    public init(
        name: String, type: FieldType, required: Bool = false, search: Bool = false,
        min: Double? = nil, max: Double? = nil, title: String? = nil, unit: String? = nil,
        summary: String? = nil, details: Bool = false
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
        self.details = details
    }
}
