/// The kind of subject that votes and comments may have.
public enum SubjectKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The items of the container.
    case items
    /// The container itself.
    case container

    /// Creates the kind of a subject.
    public init(_ subject: Subject) {
        self = subject.item == nil ? .container : .items
    }
}

/// The votes that a component accepts: front ends offer these, and the component has to accept each.
///
/// It follows from the component's settings and never changes while the component lives.
public struct VoteFacts: Sendable, Hashable, Codable {
    /// The least value; nil: no minimum.
    public var min: Double?
    /// The greatest value; nil: no maximum.
    public var max: Double?
    /// Interval between valid values; nil if every value in the range is valid.
    ///
    /// It is counted from ``min``, or from 0 without one: thumbs that are -1 or 1 have the step 2.
    public var step: Double?
    /// The subjects that accept votes.
    public var subjects: Set<SubjectKind>
    /// Whether the container is closed for votes; set by the host, not by the component.
    public var isClosed = false

    /// Creates facts; by default any number on items and on the container.
    public init(
        min: Double? = nil, max: Double? = nil, step: Double? = nil,
        subjects: Set<SubjectKind> = Set(SubjectKind.allCases)
    ) {
        self.min = min
        self.max = max
        self.step = step
        self.subjects = subjects
    }
}

/// The comments that a component accepts: front ends offer these, and the component has to accept each.
///
/// It follows from the component's settings and never changes while the component lives.
public struct CommentFacts: Sendable, Hashable, Codable {
    /// The maximum number of characters (Unicode scalars) of a text; nil: no maximum.
    public var maxLength: Int?
    /// Whether a new comment waits for a moderator before others see it.
    public var moderated: Bool
    /// The subjects that accept comments.
    public var subjects: Set<SubjectKind>
    /// Whether the container is closed for comments; set by the host, not by the component.
    public var isClosed = false

    /// Creates facts; by default texts of any length on items and on the container, visible at once.
    public init(
        maxLength: Int? = nil, moderated: Bool = false,
        subjects: Set<SubjectKind> = Set(SubjectKind.allCases)
    ) {
        self.maxLength = maxLength
        self.moderated = moderated
        self.subjects = subjects
    }
}
