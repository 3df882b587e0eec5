// What a host and the harness around a component say to each other. The same values travel by call
// in the daemon and over a socket to a worker. Plugins never see them, and who sees them is shipped
// with the kit: that is why they are frozen, so that every switch over them is checked to be whole.

/// A command: asks the component for a decision.
@frozen
public enum ComponentCommand: Sendable, Hashable, Codable {
    /// Add or replace items.
    case putItems([Item])
    /// Remove items.
    case removeItems([String])
    /// Cast or change a ballot; actor and time are the context's.
    case castBallot(subject: Subject, value: Double)
    /// Take a ballot back.
    case retractBallot(subject: Subject)
    /// Post a comment.
    // In a box: a command is copied many times on its way.
    indirect case postComment(CommentDraft)
    /// Change a comment's text.
    case editComment(id: String, text: String)
    /// Delete a comment.
    case deleteComment(id: String)
    /// Show, hold or remove a comment; refused for one whose text was not written at the time `seen`, where that is given.
    case moderateComment(
        id: String, state: Comment.State, reason: String? = nil, seen: String? = nil)
    /// Take over records as they were exported.
    ///
    /// The host has checked their shape, and that each differs from what there is; the component's
    /// rules (a scale, who may write) are not asked.
    case restoreRecords([Change])
}

/// What a component decided: an object, since it is passed on many times until it is committed.
///
/// Its changes are already applied to its own state, ahead of the commit.
public final class Decision: Sendable, Codable {
    /// What the caller is answered, beside the sequence.
    @frozen
    public enum Answer: Sendable, Hashable, Codable {
        /// Items by what became of them.
        case items(inserted: [String], updated: [String], unchanged: Int)
        /// The ids that were there and are gone.
        case removed([String])
        /// The subject's tally with these changes, and the ballots before and after.
        case ballot(tally: Tally, previous: Double?, current: Double?)
        /// The comment as it is with these changes.
        case comment(ThreadPage.Entry)
        /// How many records were taken over.
        case restored(Int)
    }

    /// The records to make durable; none: nothing is to be committed.
    public let changes: [Change]
    /// What the caller is answered.
    public let answer: Answer
    /// What the component reported to its delegate while the changes were applied; delivered at the commit.
    public let events: [ComponentEvent]

    /// A decision.
    public init(changes: [Change], answer: Answer, events: [ComponentEvent]) {
        self.changes = changes
        self.answer = answer
        self.events = events
    }
}

extension Decision: Hashable {
    /// Whether both say the same.
    public static func == (one: Decision, other: Decision) -> Bool {
        one.changes == other.changes && one.answer == other.answer && one.events == other.events
    }

    /// By all that it says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changes)
        hasher.combine(answer)
        hasher.combine(events)
    }
}

/// What a component reported to its delegate.
@frozen
public enum ComponentEvent: Sendable, Hashable, Codable {
    /// Items changed.
    case contents(ContentChange)
    /// A filter was selected.
    case didSelect(filter: String, section: String, selection: Selection, screen: String)
    /// A filter was deselected.
    case didDeselect(filter: String, section: String, selection: Selection, screen: String)
    /// A selection was cleared.
    case didClear(screen: String)
    /// A subject's tally is now this.
    case tally(Subject, Tally)
    /// A comment was posted.
    case didPost(Comment)
    /// A comment was edited or moderated.
    case didEdit(Comment)
    /// A comment was removed.
    case didRemove(Comment)
    /// A subject's number of comments is now this.
    case commentCount(Subject, Int)
}

/// A question: changes nothing.
@frozen
public enum ComponentQuery: Sendable, Hashable, Codable {
    /// Whether the component can go on with other settings, as a definition gives them.
    case canTake([String: Value])
    /// What a source knows of an item beyond its fields.
    case details(item: String)
    /// The sections on offer.
    case sections
    /// Filters by section and id, also those not on offer.
    case filters([FilterID])
    /// A selection with one filter more; notifies the delegate.
    case select(FilterID, of: Selection, screen: String)
    /// A selection with one filter less; notifies the delegate.
    case deselect(FilterID, of: Selection, screen: String)
    /// The empty selection; notifies the delegate.
    case clear(Selection, screen: String)
    /// An actor's ballots on some subjects.
    case ballotsOf(ActorID, subjects: [Subject])
    /// A subject's ballots by actor.
    case ballots(Subject, after: ActorID?, limit: Int)
    /// One comment at its place.
    case comment(id: String)
    /// A page of a tree.
    case thread(ThreadQuery)
    /// A page of the comments that wait for a moderator, answered as a page of a tree.
    case pendingComments(limit: Int, cursor: String?)
    /// The keys of all records about subjects.
    case recordKeys([Subject])
    /// The keys of some records about subjects, which a comments component keeps: about so many, of the first subject
    /// those after a key.
    ///
    /// Fewer than `limit` are all that there are.
    case recordKeyPage([Subject], after: String?, limit: Int)

    /// A filter's place.
    public struct FilterID: Sendable, Hashable, Codable {
        /// The section.
        public var section: String
        /// The filter's id in it.
        public var filter: String

        /// A filter's place.
        public init(section: String, filter: String) {
            self.section = section
            self.filter = filter
        }
    }
}

/// The answer to a ``ComponentQuery``, of the matching case.
@frozen
public enum ComponentAnswer: Sendable, Hashable, Codable {
    /// Whether it can.
    case canTake(Bool)
    /// What is known beyond the fields.
    case details([String: Value]?)
    /// The sections on offer.
    case sections([FilterSection])
    /// The filters, in the order asked.
    case filters([Filter])
    /// A selection, and the events for the delegate.
    case selection(Selection, events: [ComponentEvent])
    /// Ballots in the order asked; nil where there is none.
    case ballotsOf([Ballot?])
    /// Ballots by actor.
    case ballots([Ballot])
    /// A comment, nil when there is none.
    case comment(ThreadPage.Entry?)
    /// A page.
    case thread(ThreadPage)
    /// Record keys.
    case recordKeys([String])
}

/// What a component takes, as it says when it is made.
@frozen
public enum ComponentFacts: Sendable, Hashable, Codable {
    /// Of a votes component.
    case votes(VoteFacts)
    /// Of a comments component.
    case comments(CommentFacts)
}

/// One step of a component's life.
@frozen
public enum LifecyclePhase: String, Sendable, Hashable, Codable {
    /// Before the container takes it in.
    case willAttach
    /// Once it is part of the container.
    case didAttach
    /// Before the container lets it go.
    case willDetach
    /// Once it is out.
    case didDetach
}
