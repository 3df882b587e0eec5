/// The reason why a component, or its container, declines a command: an expected outcome, which the reply carries.
public struct Refusal: Error, Sendable, Hashable, Codable {
    /// The kind of a refusal, for programs.
    public enum Code: String, Sendable, Hashable, Codable {
        /// The component's rules forbid it.
        case refused
        /// A field of an item is not allowed, or has the wrong type.
        case fieldInvalid
        /// The component accepts no changes.
        case readOnly
        /// The named item does not exist.
        case itemNotFound
        /// The named comment does not exist.
        case commentNotFound
        /// The named section or filter does not exist.
        case filterNotFound
        /// The id is used for something else.
        case conflict
        /// The component did not create this cursor.
        case cursorInvalid
        /// A limit is exceeded.
        case limitExceeded
    }

    /// The kind of refusal, for programs.
    public var code: Code
    /// The reason, for people: what is wrong, with the value and the limit, and what to do.
    public var reason: String
    /// The seconds after which a retry may succeed; nil if none will.
    public var retryAfter: Double?
    /// The evidence for the code: `item`, `field`, `expected`, `found`, `comment`, `section`, `filter`; `limit`, the name
    /// of what is exceeded, and `value`, which it allows.
    public var evidence: [String: String]

    /// Creates a refusal by the component's rules; not worth a retry.
    public init(_ reason: String) { self.init(.refused, reason) }

    /// Creates a refusal; by default not worth a retry.
    public init(
        _ code: Code, _ reason: String, retryAfter: Double? = nil,
        evidence: [String: String] = [:]
    ) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.evidence = evidence
    }
}

extension Refusal: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
