/// The number under which the host knows an actor: the person on whose behalf a call is made.
///
/// Records carry the number, never a name, so that a person is erased by erasing one row.
@frozen
public struct ActorID: Sendable, Hashable, Comparable {
    /// The number: 63 random bits; older daemons counted from 1.
    public let number: Int64

    /// Wraps a number that the host assigned.
    public init(_ number: Int64) { self.number = number }

    /// Compares by number, which does not tell who came first.
    public static func < (one: ActorID, other: ActorID) -> Bool { one.number < other.number }
}

/// Encoded as its number.
extension ActorID: Codable {
    /// Decodes a number.
    public init(from decoder: any Decoder) throws { self.init(try Int64(from: decoder)) }

    /// Encodes the number.
    public func encode(to encoder: any Encoder) throws { try number.encode(to: encoder) }
}

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Components never read a clock: commands carry the time.
@frozen
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970, UTC.
    public let milliseconds: Int64

    /// Creates a timestamp from milliseconds since 1970, UTC.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whether the first is earlier.
    public static func < (one: Timestamp, other: Timestamp) -> Bool {
        one.milliseconds < other.milliseconds
    }
}

/// Encoded as its milliseconds.
extension Timestamp: Codable {
    /// Decodes milliseconds since 1970, UTC.
    public init(from decoder: any Decoder) throws {
        self.init(milliseconds: try Int64(from: decoder))
    }

    /// Encodes the milliseconds since 1970, UTC.
    public func encode(to encoder: any Encoder) throws { try milliseconds.encode(to: encoder) }
}

/// The subject of a vote or a comment.
@frozen
public enum Subject: Sendable, Hashable {
    /// The container itself.
    case container
    /// One item, by id.
    case item(String)

    /// The item's id, nil for the container.
    public var item: String? {
        if case .item(let id) = self { id } else { nil }
    }

    /// Creates the subject of an item id; nil: the container.
    public init(item: String?) {
        self = item.map(Subject.item) ?? .container
    }
}

/// Encoded as the item's id; null for the container.
extension Subject: Codable {
    /// Decodes an item's id, or null for the container.
    public init(from decoder: any Decoder) throws {
        self.init(item: try String?(from: decoder))
    }

    /// Encodes the item's id, or null for the container.
    public func encode(to encoder: any Encoder) throws { try item.encode(to: encoder) }
}

/// The kind of a component.
///
/// A kind is a contract: a protocol, a delegate protocol, the shape of its records and a
/// conformance suite. The host compares them in every call: hence the enum is frozen.
@frozen
public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Lists items: ``ContentListing``.
    case contents
    /// Offers filters: ``Filtering``.
    case filters
    /// Counts votes: ``Voting``.
    case votes
    /// Keeps comments: ``Commenting``.
    case comments
}
