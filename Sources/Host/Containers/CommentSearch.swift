import AtriumKit
import Index
import JSONCodec
import Store

/// Finds the comments on items that are being purged, while the gates are closed.
///
/// If there are few, the entry names each of them, because named rows are faster to erase than rows that must be
/// searched for. The components name the comments, and the stored records are checked against that.
final class CommentSearch {
    struct Found {
        /// The comments to be named in the entry.
        var named: [RecordKey] = []
        /// The components with too many comments on the items to name them.
        var many: [String] = []
    }

    /// The maximum number of comments that an entry names.
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

    /// Searches the next component, then the remaining ones.
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
        // One more than may be named: if that many come, there are too many, and no more are requested.
        let limit = room - keys.count + 1
        slot.requests.ask(
            .recordKeyPage(batch, after: nil, limit: limit), for: slot, passesGate: true
        ) {
            [self] result in
            switch result {
            case .failure(let error): done(.failure(error))
            case .success(.recordKeys(let more)): ask(slot, batches.dropFirst(), keys + more)
            case .success:
                done(.failure(.wrongAnswer(of: slot.name)))
            }
        }
    }

    /// Checks that each named record is a comment on one of the items, which its key does not show.
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
