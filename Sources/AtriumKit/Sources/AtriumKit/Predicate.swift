/// A condition on the items of a list.
///
/// A filters component creates it; the container's index evaluates it.
public indirect enum Predicate: Sendable, Hashable, Codable {
    /// One end of a range.
    public struct Bound: Sendable, Hashable, Codable {
        /// The value at which the range ends.
        public var value: Double
        /// Whether the value itself is in the range.
        public var isIncluded: Bool

        /// Creates an end of a range, included by default.
        public init(_ value: Double, isIncluded: Bool = true) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }

    /// Every item.
    case all
    /// Items whose field has this value; for keywords, whose list contains it.
    case equals(field: String, value: Value)
    /// Items whose field is a number between the bounds; nil: unbounded.
    ///
    /// A duration counts in seconds, a time in seconds since 1970, UTC.
    case range(field: String, lower: Bound?, upper: Bound?)
    /// Items whose field contains the text, without regard to case and diacritics.
    case contains(field: String, text: String)
    /// Items that match all of these; if there are none, every item.
    case and([Predicate])
    /// Items that match any of these; if there are none, no item.
    case or([Predicate])
    /// Items that do not match this.
    case not(Predicate)
}
