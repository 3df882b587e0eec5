import AtriumKit
import DequeModule

/// What one client has open on a container.
///
/// It is pulled: a change wakes the reader once, and the snapshot is made when it is pulled. So
/// however many commits pass while the reader is slow, they make one revision.
final class Screen {
    /// How the reader does.
    enum Reader {
        /// It has all there is, and is woken by the next change.
        case waiting
        /// It was woken, and something is outstanding for it.
        case woken
        /// A snapshot is being made for it.
        case reading
    }

    let id: ScreenID
    let owner: String
    let actor: String?
    let search: String?
    let sort: [String]
    let limit: Int
    private(set) weak var container: Container?
    /// What is selected; set by the container's delegate alone.
    var selection: Selection

    private let wake: @Sendable () -> Void
    private var reader = Reader.woken
    private var revision = 0
    /// Changes that the last snapshot does not show.
    private var changes = 1
    private var isEnded = false
    private var choices: Deque<(_ finished: @escaping () -> Void) -> Void> = []
    private var isChoosing = false

    init(
        _ request: ScreenRequest, id: ScreenID, owner: String, on container: Container,
        wake: @escaping @Sendable () -> Void
    ) {
        self.id = id
        self.owner = owner
        self.container = container
        self.wake = wake
        actor = request.actor
        selection = request.selection
        search = request.search
        sort = request.sort
        limit = request.limit
    }

    /// The revision that shows everything up to now.
    var latest: Int { revision + (reader == .reading ? 1 : 0) + (changes > 0 ? 1 : 0) }

    /// Something that it shows may have changed.
    func changed() {
        changes += 1
        guard reader == .waiting else { return }
        reader = .woken
        wake()
    }

    /// Its container is gone: the next pull says so.
    func end() {
        isEnded = true
        changed()
    }

    /// Makes the next revision.
    ///
    /// - Parameter reply: the revision; nil: there is nothing new, and the reader will be woken.
    func pull(_ reply: @escaping Answer<ScreenSnapshot?>) {
        guard let container, !isEnded else { return reply(.failure(.screenNotFound(id.text))) }
        guard reader != .reading else { return reply(.success(nil)) }
        guard changes > 0 else {
            reader = .waiting
            return reply(.success(nil))
        }
        reader = .reading
        let commits = changes
        changes = 0
        container.snapshot(self) { [self] result in
            reader = .woken
            guard case .success(var snapshot) = result else {
                changes += commits
                return reply(result.map { $0 })
            }
            revision += 1
            snapshot.revision = revision
            snapshot.commits = commits
            reply(.success(snapshot))
        }
    }

    /// Runs choices one after another: each is made on the selection that the one before left.
    func choose(_ choice: @escaping (_ finished: @escaping () -> Void) -> Void) {
        choices.append(choice)
        nextChoice()
    }

    private func nextChoice() {
        guard !isChoosing, let choice = choices.popFirst() else { return }
        isChoosing = true
        choice { [self] in
            isChoosing = false
            nextChoice()
        }
    }
}
