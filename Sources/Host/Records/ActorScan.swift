import AtriumKit
import Index
import JSONCodec
import Store

/// Scans a component's records for those of one person, in slices.
///
/// The first pass finds the person's own records, and the reasons that the person gave as a moderator of others'
/// comments. For comments a second pass finds others' replies to the person's comments.
///
/// A record's kind is recognised by its shape, because the component's plugin may not be loaded.
struct ActorScan: Sendable {
    /// The most records that one slice reads.
    private static let slice = 2_000

    private let actor: ActorID
    private let container: String
    private let component: String
    private var ballots: [String] = []
    private var comments: [String: Comment] = [:]
    /// Others' comments, with the reasons that the person gave removed.
    private var unexplained: [Change] = []
    /// The person's comments that somebody else replied to.
    private var answered: Set<String> = []
    /// Damaged records, except ballots: their keys show whose they are.
    private var unreadable = UnreadableRecords()
    private var key: String?
    private var looksForReplies = false
    private var isOver = false

    init(of actor: ActorID, in container: String, _ component: String) {
        self.actor = actor
        self.container = container
        self.component = component
    }

    /// Runs the scan and replies with itself.
    func run(in domain: Domain, _ done: @escaping Answer<ActorScan>) {
        if domain.isStopping { return done(.failure(domain.stopping)) }
        domain.read { [self] store in
            var scan = self
            try scan.step(in: store)
            return scan
        } then: { result in
            switch result {
            case .failure(let error): done(.failure(.unreadable(error)))
            case .success(let scan) where scan.isOver: done(.success(scan))
            case .success(let scan): scan.run(in: domain, done)
            }
        }
    }

    private struct Enough: Error {}

    private mutating func step(in store: Store) throws {
        var looked = 0
        do {
            try store.forEachRecord(container: container, component: component, after: key) {
                bytes, value, _ in
                if looked == Self.slice { throw Enough() }
                looked += 1
                let key = String(decoding: bytes, as: UTF8.self)
                self.key = key
                check(at: key, value)
            }
        } catch is Enough {
            return
        }
        key = nil
        isOver = looksForReplies || comments.isEmpty
        looksForReplies = true
    }

    private mutating func check(at key: String, _ bytes: UnsafeRawBufferPointer?) {
        if let ballot = Ballot.parse(key: key) {
            if !looksForReplies, ballot.actor == actor { ballots.append(key) }
            return
        }
        guard let bytes else {
            if !looksForReplies { unreadable.add(key) }
            return
        }
        guard let value = try? Value(jsonBytes: Array(bytes)),
            let comment = Comment(key: key, value: value)
        else { return }
        if looksForReplies {
            if comments[key] == nil, let parent = comment.parent, comments[parent] != nil {
                answered.insert(parent)
            }
        } else if comment.author == actor {
            comments[key] = comment.asNobodys
        } else if comment.moderator == actor {
            unexplained.append(comment.withoutReason.record)
        }
    }
}

extension ActorScan {
    /// The findings of the scan.
    var found: ActorErasure.Found {
        ActorErasure.Found(
            ballots: ballots, comments: Array(comments.values), unreadable: unreadable)
    }

    /// The changes that erase the person's records.
    ///
    /// A comment that others replied to keeps its place, and so do the person's comments above it.
    var changes: [Change] {
        var kept: Set<String> = []
        for id in answered {
            var next: String? = id
            while let id = next, let comment = comments[id], kept.insert(id).inserted {
                next = comment.parent
            }
        }
        return ballots.map { .removed(key: $0) }
            + comments.values.sorted { $0.id < $1.id }.map {
                kept.contains($0.id) ? $0.record : .removed(key: $0.id)
            } + unexplained
    }
}

extension Comment {
    /// The comment as a deleted one, without author and text.
    fileprivate var asNobodys: Comment {
        var comment = self
        comment.author = nil
        comment.text = nil
        comment.state = .removed
        comment.edited = nil
        // A fingerprint would confirm a guess of the text.
        comment.fingerprint = ""
        return comment.withoutReason
    }

    fileprivate var withoutReason: Comment {
        var comment = self
        (comment.reason, comment.moderator) = (nil, nil)
        return comment
    }
}
