/// A field of a container's items, as its definition declares it.
public struct Field: Sendable, Hashable, Codable {
    /// The type of a field's values.
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
        /// A link: an `https`, `http` or `mailto` address. Searched, sorted and filtered as text.
        case url
        /// A picture: the `https` or `http` address of one, a `data:image/…;base64,…`, or `source:NAME`, which its
        /// source reads (``ImageProviding``). Not searched, sorted or filtered.
        case image
        /// Text in Markdown, as it was written. Searched, sorted and filtered as text.
        case markdown
        /// A day `2026-01-31` derived from a time: the first day of a day, week or month.
        ///
        /// A predicate's range compares it as its midnight in UTC.
        case date
    }

    /// The period whose first day a date is.
    public enum Bucket: String, Sendable, Hashable, Codable, CaseIterable {
        /// The day itself.
        case day
        /// A week, from Monday.
        case week
        /// A month.
        case month
    }

    /// The derivation of a date from another field.
    public struct Derivation: Sendable, Hashable, Codable {
        /// The source field, of the type `time`; an item without it has no date.
        public var of: String
        /// The period whose first day the date is.
        public var by: Bucket
        /// The time zone that decides which day a time belongs to, such as `Europe/Rome`.
        public var zone: String

        /// Creates a derivation.
        public init(of: String, by: Bucket, zone: String) {
            self.of = of
            self.by = by
            self.zone = zone
        }
    }

    /// The name: `[a-z][a-zA-Z0-9_-]{0,62}`.
    public var name: String
    /// The type of its values.
    public var type: FieldType
    /// Whether every item must have a value.
    public var required: Bool
    /// Whether text searches include it; only for texts, keywords, URLs and Markdown.
    public var search: Bool
    /// The least value allowed; only for numbers.
    public var min: Double?
    /// The greatest value allowed; only for numbers.
    public var max: Double?
    /// The title that people read; nil: the name.
    public var title: String?
    /// The unit of its numbers, such as `km` or `€`; only for numbers.
    public var unit: String?
    /// The meaning, in a sentence; nil if the title says enough.
    public var summary: String?
    /// The derivation from another field, for fields that items can't be put with; nil for all others.
    public var derivation: Derivation?
    /// The time zone in which the host reads times that are put without an offset; nil: such times are refused.
    ///
    /// Only for times.
    public var zone: String?
    /// Whether it is left out of lists, and sent only with a screen's focused item or an item that is read by itself.
    public var details: Bool

    /// Creates a field; by default optional, not searched, unbounded, in lists, without title, unit and summary.
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
