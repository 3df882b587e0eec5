import AtriumKit
import Index
import JSONCodec
import Store

/// Looks for the comments on items that are about to be purged, whose gates are closed.
///
/// Where they are few the entry names them, one by one: rows that are named need not be searched for.
/// The components say which they are, and the store's records whether that is true.
final class CommentSearch {
    /// What was found.
    struct Found {
        /// Comments to be named.
        var named: [RecordKey] = []
        /// Components with more than that on the items.
        var many: [String] = []
    }

    /// So many comments are named in an entry at most.
    static let named = 1_000

    private let container: Container
    private let subjects: [Subject]
    private var slots: ArraySlice<Slot>
    private var found = Found()
    private var done: Answer<Found> = { _ in }

    init(for subjects: [Subject], in slots: [Slot], of container: Container) {
        self.container = container
        self.subjects = subjects
        self.slots = subjects.isEmpty ? [] : slots[...]
    }

    func run(_ done: @escaping Answer<Found>) {
        self.done = done
        next()
    }

    /// Looks in the next component, then in the others.
    private func next() {
        guard let slot = slots.popFirst() else { return check() }
        let known = subjects.reduce(0) { $0 + (slot.commentCount(of: $1) ?? 0) }
        guard known <= room else {
            found.many.append(slot.name)
            return next()
        }
        ask(slot, SubjectErasure.batches(of: subjects, in: slot)[...], [])
    }

    private var room: Int { Self.named - found.named.count }

    private func ask(_ slot: Slot, _ batches: ArraySlice<[Subject]>, _ keys: [String]) {
        guard keys.count <= room else {
            found.many.append(slot.name)
            return next()
        }
        guard let batch = batches.first else {
            found.named += keys.map {
                RecordKey(container: container.name, component: slot.name, key: $0)
            }
            return next()
        }
        // One more than may be named: then they are many, and the others are not asked for.
        let limit = room - keys.count + 1
        slot.ask(.recordKeyPage(batch, after: nil, limit: limit), passesGate: true) {
            [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(.recordKeys(let more)): ask(slot, batches.dropFirst(), keys + more)
            case .success:
                done(.failure(slot.unavailable("It answered something else than was asked.")))
            }
        }
    }

    /// Makes sure that each record that is to be named is a comment on one of the items: its key does not
    /// tell.
    private func check() {
        guard !found.named.isEmpty else { return done(.success(found)) }
        let (named, subjects) = (found.named, Set(subjects))
        container.domain.read { store in
            zip(named, try store.records(named)).first { key, record in
                guard let value = record.flatMap({ try? Value(jsonBytes: $0.value) }),
                    let comment = Comment(key: key.key, value: value)
                else { return true }
                return !subjects.contains(comment.subject)
            }?.0
        } then: { [self] result in
            switch result {
            case .success(nil): done(.success(found))
            case .success(let foreign?): done(.failure(refusal(of: foreign)))
            case .failure(let error):
                done(.failure(.unreadable(error)))
            }
        }
    }

    private func refusal(of key: RecordKey) -> HostError {
        let plugin = container.slot(key.component)?.definition.plugin ?? ""
        return .componentUnavailable(
            component: key.component,
            reason: "Its plugin \(plugin) was asked for the comments on the items and named "
                + "\(AnswerCheck.record(key.key, "is no comment on them")): nothing is purged.",
            retryAfter: 5)
    }
}
