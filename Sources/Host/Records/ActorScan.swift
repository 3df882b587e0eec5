import AtriumKit
import Index
import JSONCodec
import Store

/// Looks through a component's records for those of one person, in slices: first for what is theirs, and
/// for what they said as a moderator of others' comments; then, where that are comments, for the replies of others to them.
///
/// What a record is its shape tells, whatever the component is today: its plugin may not be there.
struct ActorScan: Sendable {
    /// How many records one slice looks at.
    private static let slice = 2_000

    private let actor: ActorID
    private let container: String
    private let component: String
    private var ballots: [String] = []
    private var comments: [String: Comment] = [:]
    /// Comments of others without the reasons that the person gave.
    private var unexplained: [Change] = []
    /// Those of the comments that somebody else replied to.
    private var answered: Set<String> = []
    /// Records that are not what was written, but for ballots, whose keys tell whose they are.
    private var unreadable = UnreadableRecords()
    private var key: String?
    private var looksForReplies = false
    private var isOver = false

    init(of actor: ActorID, in container: String, _ component: String) {
        self.actor = actor
        self.container = container
        self.component = component
    }

    /// Looks through them all, and comes back with what it found.
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
                look(at: key, value)
            }
        } catch is Enough {
            return
        }
        key = nil
        isOver = looksForReplies || comments.isEmpty
        looksForReplies = true
    }

    private mutating func look(at key: String, _ bytes: UnsafeRawBufferPointer?) {
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
    /// What it found.
    var found: ActorErasure.Found {
        ActorErasure.Found(
            ballots: ballots, comments: Array(comments.values), unreadable: unreadable)
    }

    /// What becomes of it: comments that others replied to keep their place, and those of the same
    /// person above them.
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
    /// The comment as a deleted one of which it is not known whose it was, nor what it said.
    fileprivate var asNobodys: Comment {
        var comment = self
        comment.author = nil
        comment.text = nil
        comment.state = .removed
        comment.edited = nil
        // A digest of the text tells who guesses it that they guessed right.
        comment.fingerprint = ""
        return comment.withoutReason
    }

    fileprivate var withoutReason: Comment {
        var comment = self
        (comment.reason, comment.moderator) = (nil, nil)
        return comment
    }
}
