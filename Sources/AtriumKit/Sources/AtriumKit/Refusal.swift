/// Why a component, or its container, declines a command: an expected outcome, which the reply carries.
public struct Refusal: Error, Sendable, Hashable, Codable {
    /// What kind of refusal it is, for programs.
    public enum Code: String, Sendable, Hashable, Codable {
        /// A rule of the component says no.
        case refused
        /// A field of an item has no place here or the wrong type.
        case fieldInvalid
        /// The component takes no changes.
        case readOnly
        /// The named item is not there.
        case itemNotFound
        /// The named comment is not there.
        case commentNotFound
        /// The named section or filter is not there.
        case filterNotFound
        /// The id is taken by something else.
        case conflict
        /// A cursor that the component did not give out.
        case cursorInvalid
        /// A limit was reached.
        case limitExceeded
    }

    /// For programs.
    public var code: Code
    /// For people: what is wrong, with the value and the limit, and what to do.
    public var reason: String
    /// Seconds after which trying again may succeed; nil when it will not.
    public var retryAfter: Double?
    /// What the code speaks of: `item`, `field`, `expected`, `found`, `comment`, `section`,
    /// `filter`, `limit`, `value`.
    public var evidence: [String: String]

    /// A rule's refusal, with its reason; not worth trying again.
    public init(_ reason: String) { self.init(.refused, reason) }

    /// A refusal with its reason; by default not worth trying again.
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
