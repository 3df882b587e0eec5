/// What votes and comments may be about.
public enum SubjectKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The items of the container.
    case items
    /// The container itself.
    case container

    /// The kind of a subject.
    public init(_ subject: Subject) {
        self = subject.item == nil ? .container : .items
    }
}

/// Which votes a component takes, for front ends: what they offer is what it accepts.
///
/// It follows from the component's settings and never changes while the component lives.
public struct VoteFacts: Sendable, Hashable, Codable {
    /// The least value; nil: no value is too small.
    public var min: Double?
    /// The greatest value; nil: no value is too great.
    public var max: Double?
    /// How far values lie apart; nil: any value between them is one, too.
    ///
    /// Counted from ``min``, or from 0 where there is none: thumbs that are -1 or 1 have the step 2.
    public var step: Double?
    /// What may be voted on.
    public var subjects: Set<SubjectKind>
    /// Whether the container is closed for votes: the host says so, whatever a component does.
    public var isClosed = false

    /// Facts; by default any number on items and on the container.
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

/// Which comments a component takes, for front ends: what they offer is what it accepts.
///
/// It follows from the component's settings and never changes while the component lives.
public struct CommentFacts: Sendable, Hashable, Codable {
    /// The most characters (Unicode scalars) of a text; nil: no text is too long.
    public var maxLength: Int?
    /// Whether a new comment waits for a moderator before others see it.
    public var moderated: Bool
    /// What may be commented on.
    public var subjects: Set<SubjectKind>
    /// Whether the container is closed for comments: the host says so, whatever a component does.
    public var isClosed = false

    /// Facts; by default texts of any length on items and on the container, seen at once.
    public init(
        maxLength: Int? = nil, moderated: Bool = false,
        subjects: Set<SubjectKind> = Set(SubjectKind.allCases)
    ) {
        self.maxLength = maxLength
        self.moderated = moderated
        self.subjects = subjects
    }
}
