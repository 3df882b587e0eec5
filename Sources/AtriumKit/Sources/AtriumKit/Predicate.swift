/// Which items of a list to show.
///
/// Made by a filters component, evaluated by the container's index.
public indirect enum Predicate: Sendable, Hashable, Codable {
    /// One end of a range.
    public struct Bound: Sendable, Hashable, Codable {
        /// Where the range ends.
        public var value: Double
        /// Whether the value itself is in the range.
        public var isIncluded: Bool

        /// An end of a range, included by default.
        public init(_ value: Double, isIncluded: Bool = true) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }

    /// Every item.
    case all
    /// Items whose field is this value; for keywords, whose list holds it.
    case equals(field: String, value: Value)
    /// Items whose field is a number between the bounds; nil is open. A duration counts in
    /// seconds, a time in seconds since 1970, UTC.
    case range(field: String, lower: Bound?, upper: Bound?)
    /// Items whose field contains the text, without regard to case and diacritics.
    case contains(field: String, text: String)
    /// Items that all of these match; none given, every item.
    case and([Predicate])
    /// Items that any of these matches; none given, no item.
    case or([Predicate])
    /// Items that this does not match.
    case not(Predicate)
}
