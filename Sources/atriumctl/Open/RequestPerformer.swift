import Interfaces
import Synchronization
import Varlink

/// Makes the calls for requests, one after the other, on a connection of their own: the first one is busy with the
/// screen's revisions.
final class RequestPerformer: Sendable {
    /// A request, and the screen that it is for.
    struct Pending: Sendable {
        var request: Request
        var container: String
        var screen: String
        /// Which part of it; nil: the screen itself.
        var part: String?
    }

    /// What became of a request.
    struct Outcome {
        var revision: Int?
        var text: String?
    }

    private let options: ConnectionOptions
    let actor: String?
    private let events: EventQueue
    private let pending = Mutex<[Pending]>([])
    private let wake: AsyncStream<Void>.Continuation
    private let woken: AsyncStream<Void>

    init(options: ConnectionOptions, actor: String?, events: EventQueue) {
        (self.options, self.actor, self.events) = (options, actor, events)
        (woken, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Puts a request behind those that wait; what it makes needless goes.
    func send(_ request: Request, container: String, screen: String, part: String) {
        pending.withLock { pending in
            pending.removeAll { $0.part ?? "" == part && $0.request.isReplaced(by: request) }
            pending.append(
                Pending(
                    request: request, container: container, screen: screen,
                    part: part.isEmpty ? nil : part))
        }
        wake.yield()
    }

    /// Performs requests until the task is cancelled.
    func run(container: String) async {
        var session: Session?
        await showRole(container)
        for await _ in woken {
            while let next = pending.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                await perform(next, &session)
            }
        }
    }

    private func perform(_ next: Pending, _ session: inout Session?) async {
        // The daemon may have been started again since the last one.
        var mayRetry = session != nil
        // That is not the same twice; a comment has its id.
        if case .activate = next.request { mayRetry = false }
        while true {
            do {
                let open: Session
                if let session { open = session } else { open = try await options.connect() }
                session = open
                if let event = try await answer(to: next, open) { return events.post(event) }
                let outcome = try await outcome(of: next, open)
                return events.post(
                    .done(
                        next.request, revision: outcome.revision, text: outcome.text,
                        on: next.screen))
            } catch {
                let failure = error as? CommandFailure ?? CommandFailure("\(error)")
                if failure.status == .unreachable { session = nil }
                guard failure.status == .unreachable, mayRetry else {
                    // Nobody asked for that one.
                    if case .describe = next.request { return }
                    return events.post(
                        .failed(next.request, failure, on: next.screen, part: next.part ?? ""))
                }
                mayRetry = false
            }
        }
    }

    /// Finds out whether the person may moderate, by a question that moderators alone may ask.
    private func showRole(_ container: String) async {
        guard let session = try? await options.connect() else { return }
        do {
            _ = try await session.client.call(
                Votes.Ballots.self, .init(container: container, limit: 1))
            events.post(.mayModerate(true))
        } catch let error as VarlinkRemoteError {
            var mayModerate = true
            if case .roleRequired = InterfaceError(error) { mayModerate = false }
            events.post(.mayModerate(mayModerate))
        } catch {}
    }

    private func outcome(of next: Pending, _ session: Session) async throws -> Outcome {
        let (screen, part) = (next.screen, next.part)
        switch next.request {
        case .select(let section, let filter):
            return Outcome(
                revision: try await session.call(
                    Screens.Select.self,
                    .init(screen: screen, section: section, filter: filter, part: part)
                ).revision)
        case .deselect(let section, let filter):
            return Outcome(
                revision: try await session.call(
                    Screens.Deselect.self,
                    .init(screen: screen, section: section, filter: filter, part: part)
                ).revision)
        case .clear:
            return Outcome(
                revision: try await session.call(
                    Screens.Clear.self, .init(screen: screen, part: part)
                )
                .revision)
        case .search(let text):
            return Outcome(
                revision: try await session.call(
                    Screens.Search.self, .init(screen: screen, text: text, part: part)
                ).revision)
        case .sort(let fields):
            return Outcome(
                revision: try await session.call(
                    Screens.Sort.self, .init(screen: screen, sort: fields, part: part)
                ).revision)
        case .scope(let scope):
            return Outcome(
                revision: try await session.call(
                    Screens.SetScope.self, .init(screen: screen, scope: scope, part: part)
                ).revision)
        default: return try await navigate(next, session)
        }
    }

    private func navigate(_ next: Pending, _ session: Session) async throws -> Outcome {
        let (screen, part) = (next.screen, next.part)
        switch next.request {
        case .enter(let item):
            return Outcome(
                revision: try await session.call(
                    Screens.Enter.self, .init(screen: screen, item: item, part: part)
                ).revision)
        case .focus(let item):
            return Outcome(
                revision: try await session.call(
                    Screens.Focus.self, .init(screen: screen, item: item, part: part)
                ).revision)
        case .back:
            return Outcome(
                revision: try await session.call(
                    Screens.Back.self, .init(screen: screen, part: part)
                )
                .revision)
        case .setHidden(let component, let hidden):
            return Outcome(
                revision: try await session.call(
                    Screens.SetHidden.self,
                    .init(screen: screen, component: component, hidden: hidden, part: part)
                ).revision)
        case .activate(let item):
            _ = try await session.call(
                Screens.Activate.self, .init(screen: screen, item: item, part: part))
            return Outcome(text: "chose \(item)")
        case .resize(let component, let limit):
            return Outcome(
                revision: try await session.call(
                    Screens.Resize.self,
                    .init(screen: screen, component: component, limit: limit, part: part)
                ).revision)
        default: return Outcome(text: try await voice(next, session))
        }
    }
}
