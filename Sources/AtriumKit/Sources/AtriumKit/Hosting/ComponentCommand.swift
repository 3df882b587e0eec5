// Messages between the host and the harness of a component. The same values are passed by call in the daemon and over a
// socket to a worker. Plugins never use them. They are frozen, so that the compiler checks that switches over them are
// exhaustive: all code that switches over them ships with the kit.

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
    /// Show, hold or remove a comment. If `seen` is given, refused if the current text was not written at that time.
    case moderateComment(
        id: String, state: Comment.State, reason: String? = nil, seen: String? = nil)
    /// Restore records as they were exported.
    ///
    /// The host has checked their shape, and that each differs from the current record; the component's rules (a scale,
    /// who may write) are not applied.
    case restoreRecords([Change])
}

/// A component's decision on a command; an object, because it is passed on many times until it is committed.
///
/// Its changes are already applied to the component's state, ahead of the commit.
public final class Decision: Sendable, Codable {
    /// The contents of the reply, without the sequence.
    @frozen
    public enum Answer: Sendable, Hashable, Codable {
        /// The inserted and updated ids, and the number of unchanged items.
        case items(inserted: [String], updated: [String], unchanged: Int)
        /// The removed ids.
        case removed([String])
        /// The subject's tally after the changes, and the actor's vote before and after.
        case ballot(tally: Tally, previous: Double?, current: Double?)
        /// The comment after the changes.
        case comment(ThreadPage.Entry)
        /// The number of restored records.
        case restored(Int)
    }

    /// The records to commit; empty if nothing is to be committed.
    public let changes: [Change]
    /// The contents of the reply.
    public let answer: Answer
    /// The events that the component reported to its delegate while the changes were applied; delivered at the commit.
    public let events: [ComponentEvent]

    /// Creates a decision.
    public init(changes: [Change], answer: Answer, events: [ComponentEvent]) {
        self.changes = changes
        self.answer = answer
        self.events = events
    }
}

extension Decision: Hashable {
    /// Whether both have equal changes, answers and events.
    public static func == (one: Decision, other: Decision) -> Bool {
        one.changes == other.changes && one.answer == other.answer && one.events == other.events
    }

    /// Hashes the changes, the answer and the events.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(changes)
        hasher.combine(answer)
        hasher.combine(events)
    }
}

/// An event that a component reported to its delegate.
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
    /// A subject's tally changed to this.
    case tally(Subject, Tally)
    /// A comment was posted.
    case didPost(Comment)
    /// A comment was edited or moderated.
    case didEdit(Comment)
    /// A comment was removed.
    case didRemove(Comment)
    /// A subject's number of comments changed to this.
    case commentCount(Subject, Int)
}

/// A question, which changes nothing.
@frozen
public enum ComponentQuery: Sendable, Hashable, Codable {
    /// Whether the component can adopt new settings, given as in a definition.
    case canTake([String: Value])
    /// The values that a source has for an item beyond its fields.
    case details(item: String)
    /// The sections on offer.
    case sections
    /// Filters by section and id, including those not on offer.
    case filters([FilterID])
    /// The selection with one more filter; the delegate is notified.
    case select(FilterID, of: Selection, screen: String)
    /// The selection with one filter less; the delegate is notified.
    case deselect(FilterID, of: Selection, screen: String)
    /// The empty selection; the delegate is notified.
    case clear(Selection, screen: String)
    /// An actor's ballots on some subjects.
    case ballotsOf(ActorID, subjects: [Subject])
    /// A subject's ballots by actor.
    case ballots(Subject, after: ActorID?, limit: Int)
    /// One comment with its place in the tree.
    case comment(id: String)
    /// A page of a comment tree.
    case thread(ThreadQuery)
    /// A page of the comments that wait for a moderator, in the form of a page of a tree.
    case pendingComments(limit: Int, cursor: String?)
    /// The keys of all records about these subjects.
    case recordKeys([Subject])
    /// About `limit` keys of a comments component's records about these subjects; for the first subject, only keys
    /// after `after`.
    ///
    /// Fewer than `limit` keys mean that no others follow.
    case recordKeyPage([Subject], after: String?, limit: Int)

    /// A filter's section and id.
    public struct FilterID: Sendable, Hashable, Codable {
        /// The section.
        public var section: String
        /// The filter's id in it.
        public var filter: String

        /// Creates the reference.
        public init(section: String, filter: String) {
            self.section = section
            self.filter = filter
        }
    }
}

/// The answer to a ``ComponentQuery``, of the matching case.
@frozen
public enum ComponentAnswer: Sendable, Hashable, Codable {
    /// Whether the component can adopt the settings.
    case canTake(Bool)
    /// The values beyond the fields; nil if there are none.
    case details([String: Value]?)
    /// The sections on offer.
    case sections([FilterSection])
    /// The filters, in the order of the question.
    case filters([Filter])
    /// A selection, and the events for the delegate.
    case selection(Selection, events: [ComponentEvent])
    /// The ballots in the order of the subjects; nil where there is none.
    case ballotsOf([Ballot?])
    /// Ballots, ordered by actor.
    case ballots([Ballot])
    /// A comment; nil if there is none.
    case comment(ThreadPage.Entry?)
    /// A page.
    case thread(ThreadPage)
    /// Record keys.
    case recordKeys([String])
}

/// The votes or comments that a component accepts.
@frozen
public enum ComponentFacts: Sendable, Hashable, Codable {
    /// The facts of a votes component.
    case votes(VoteFacts)
    /// The facts of a comments component.
    case comments(CommentFacts)
}

/// A step of a component's life cycle.
@frozen
public enum LifecyclePhase: String, Sendable, Hashable, Codable {
    /// Before the component becomes part of the container.
    case willAttach
    /// After the component became part of the container.
    case didAttach
    /// Before the component leaves the container.
    case willDetach
    /// After the component left the container.
    case didDetach
}
