public import AtriumKit

/// What came of applying definitions.
public struct ApplyOutcome: Sendable, Hashable {
    /// For each definition in turn, what became of its container.
    public var results: [ApplyResult]
    /// The last sequence that any of them was committed under; the current one when nothing was.
    public var sequence: Int64

    /// An outcome.
    public init(results: [ApplyResult], sequence: Int64) {
        self.results = results
        self.sequence = sequence
    }
}

/// A container with what was said about itself.
public struct ContainerDescription: Sendable, Hashable {
    /// How it does.
    public var status: ContainerStatus
    /// The votes on the container itself; nil without a votes component.
    public var votes: Tally?
    /// The comments on the container itself; nil without a comments component.
    public var comments: Int?
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// A description.
    public init(status: ContainerStatus, votes: Tally?, comments: Int?, sequence: Int64) {
        self.status = status
        self.votes = votes
        self.comments = comments
        self.sequence = sequence
    }
}

/// One item with what its source knows beyond its fields.
public struct ItemResult: Sendable, Hashable {
    /// The item.
    public var item: ItemView
    /// More about it, as a JSON object's bytes; nil: nothing.
    public var details: [UInt8]?
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// An item with its details.
    public init(item: ItemView, details: [UInt8]?, sequence: Int64) {
        self.item = item
        self.details = details
        self.sequence = sequence
    }
}

/// What came of a removal.
public struct RemoveResult: Sendable, Hashable {
    /// How many items were there and are gone.
    public var removed: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64

    /// A result.
    public init(removed: Int, sequence: Int64) {
        self.removed = removed
        self.sequence = sequence
    }
}

/// The sections of a container with counts for a selection.
public struct FiltersPage: Sendable, Hashable {
    /// The sections, in order.
    public var sections: [SectionView]
    /// How many items of the first list match the whole selection.
    public var total: Int
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// A page.
    public init(sections: [SectionView], total: Int, sequence: Int64) {
        self.sections = sections
        self.total = total
        self.sequence = sequence
    }
}

/// A subject's tally.
public struct TallyResult: Sendable, Hashable {
    /// The tally.
    public var tally: TallyView
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// A tally.
    public init(tally: TallyView, sequence: Int64) {
        self.tally = tally
        self.sequence = sequence
    }
}

/// A page of ballots.
public struct BallotPage: Sendable, Hashable {
    /// The ballots, in the order in which the actors were first met.
    public var ballots: [BallotView]
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// A page.
    public init(ballots: [BallotView], next: String?, sequence: Int64) {
        self.ballots = ballots
        self.next = next
        self.sequence = sequence
    }
}

/// One comment, after it was posted, edited or moderated.
public struct CommentResult: Sendable, Hashable {
    /// The comment.
    public var comment: CommentView
    /// The entry's sequence; that of the first post when it is repeated.
    public var sequence: Int64

    /// A result.
    public init(comment: CommentView, sequence: Int64) {
        self.comment = comment
        self.sequence = sequence
    }
}

/// A page of a thread.
public struct ThreadResult: Sendable, Hashable {
    /// The comments, in pre-order.
    public var comments: [CommentView]
    /// How many comments the subject has in all.
    public var total: Int
    /// The next page's cursor; nil: this is the last.
    public var next: String?
    /// The last durable sequence that this reflects.
    public var sequence: Int64

    /// A page.
    public init(comments: [CommentView], total: Int, next: String?, sequence: Int64) {
        self.comments = comments
        self.total = total
        self.next = next
        self.sequence = sequence
    }
}

/// How the registry does.
public struct RegistryStatus: Sendable, Hashable {
    /// The store's identity.
    public var identity: String
    /// The last durable sequence.
    public var sequence: Int64
    /// How many containers there are.
    public var containers: Int
    /// How many items their lists have.
    public var items: Int
    /// How many plugins are loaded.
    public var plugins: Int
    /// How many components live in workers.
    public var workers: Int
    /// How many subscriptions are open.
    public var subscribers: Int
    /// How many screens are open.
    public var screens: Int
    /// What is wrong, a sentence each; empty when all is well.
    public var problems: [String]
    /// Bytes that the store's files take.
    public var storeBytes: Int
    /// What is kept of the past; nil while it is being counted.
    public var past: Past?

    /// What is kept of past notifications, and how much may be; nil for no limit.
    public struct Past: Sendable, Hashable {
        /// How many there are.
        public var count: Int
        /// Their bytes.
        public var bytes: Int
        /// How many there may be.
        public var most: Int
        /// How many bytes.
        public var mostBytes: Int?
        /// How many days older than the newest one.
        public var mostDays: Int?
    }

    /// A status.
    public init(
        identity: String, sequence: Int64, containers: Int, items: Int, plugins: Int,
        workers: Int, subscribers: Int, screens: Int, problems: [String], storeBytes: Int,
        past: Past? = nil
    ) {
        self.identity = identity
        self.sequence = sequence
        self.containers = containers
        self.items = items
        self.plugins = plugins
        self.workers = workers
        self.subscribers = subscribers
        self.screens = screens
        self.problems = problems
        self.storeBytes = storeBytes
        self.past = past
    }
}
