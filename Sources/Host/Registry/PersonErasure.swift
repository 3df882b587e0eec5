import AtriumKit
import Dispatch
import Index
import LogMessages
import Logging
import NIOCore
import Store

/// Erases one person, from the record that the erasure has begun until no file of the store names them.
///
/// That record is one of the registry's own, with the person's number as its key: after a restart, the next process
/// continues the erasure. Once the record is committed, the number has no name: nobody is shown the name any more,
/// and nothing more is done on the person's behalf. Whoever uses the name later is a new person. The steps are:
///
/// 1. erase the records, container by container and component by component: ``ActorErasure``;
/// 2. find the person's stored notifications, then erase those in the ring: ``ErasedPart``;
/// 3. erase the stored notifications and the name, and rewrite the store's file once for everything that was erased;
/// 4. delete the record of the erasure.
///
/// If that record can't be written, nothing was begun, and the caller is told so: the erasure would not survive the end
/// of this process. Each later step may be repeated. When one fails, all steps are tried again after ``patience`` seconds. When the store is
/// damaged, the next process tries them again.
///
/// A damaged record may be the person's. Everything else of theirs is erased, and then the erasure fails, so that an
/// administrator looks into it. A damaged notification is deleted whole; subscribers don't get those anyway.
final class PersonErasure {
    /// The component name under which the registry keeps the records of erasures that have begun.
    static let notes = "erasures"
    /// How many stored notifications are read in one slice.
    private static let slice = 1_000
    /// The seconds after which a failed erasure is tried again.
    private static let patience = 10

    let actor: ActorID
    /// The person's name; nil when an earlier process began the erasure and the name is no longer known.
    let name: String?
    private let state: RegistryState
    private let changes: StructureQueue
    private var domain: Domain { state.domain }
    /// Whether an earlier process began it.
    private let isResumed: Bool
    private var isNoted: Bool
    private var replies: [Answer<ErasureResult>] = []
    /// What all tries have erased.
    private var result = ErasureResult()
    private var part: ErasedPart
    /// The stored notifications that all tries have found: one that failed may have erased some.
    private var past: Set<Int64> = []
    /// The notifications to be deleted, as this try found them.
    private var gone: [Int64] = []
    /// Components with damaged records, whose owner can't be determined, as this try found them: a sentence each.
    private var unreadable: [String] = []
    private var over: () -> Void = {}
    /// Why the last try failed; nil before the first failure, and when the erasure is finished.
    private(set) var failure: HostError?
    /// Whether only the next process can go on.
    private(set) var isBlocked = false
    /// When this process first failed.
    private var failed: Timestamp?

    init(
        of actor: ActorID, name: String?, isNoted: Bool, in state: RegistryState,
        after changes: StructureQueue
    ) {
        self.actor = actor
        self.name = name
        self.isNoted = isNoted
        isResumed = isNoted
        self.state = state
        self.changes = changes
        part = ErasedPart(of: actor)
    }

    /// Adds a caller, which gets the result, or the first failure.
    func add(_ reply: @escaping Answer<ErasureResult>) { replies.append(reply) }

    /// The sentence about an erasure that failed or was interrupted, for the status; nil: neither happened.
    ///
    /// It does not name the person, whom nobody is to be shown any more.
    var problem: String? {
        guard let failure, let failed else {
            return isResumed
                ? "The erasure of a person (number \(actor.number)) was interrupted by the end of an "
                    + "earlier process and is unfinished: it goes on by itself" : nil
        }
        return "The erasure of a person (number \(actor.number)) is unfinished, and has failed "
            + "since \(failed.text): \(failure.sentence)"
    }

    /// Runs the erasure; `over` is called when it is finished or given up: when the daemon stops, the store is
    /// damaged, or its first record can't be written.
    func run(_ over: @escaping () -> Void) {
        self.over = over
        guard !isNoted else { return begin() }
        domain.append([change(Value.object([:]).jsonBytes)]) { [self] result in
            switch result {
            case .failure(let error):
                answer(.failure(error.asNotBegun))
                over()
            case .success:
                isNoted = true
                domain.actors.erase(actor)
                begin()
            }
        }
    }

    private func change(_ value: [UInt8]?) -> RecordChange {
        RecordChange(container: "", component: Self.notes, key: "\(actor.number)", value: value)
    }

    private func answer(_ result: Result<ErasureResult, HostError>) {
        let waiting = replies
        replies = []
        for reply in waiting { reply(result) }
    }

    /// Replies to the waiting callers with an error, and tries again later unless the store is damaged: every further
    /// try would fail, and would end running exports.
    private func fail(_ error: HostError, isDamaged: Bool = false) {
        var error = error
        let isFinal = isDamaged || domain.store.isDamaged
        if isFinal, case .storeUnavailable(let reason, _) = error {
            error = .storeUnavailable(
                reason:
                    "The person is shown to nobody any more, but can't be erased from a damaged store; the next start "
                    + "tries it again: " + reason, retryAfter: nil)
        } else if case .storeUnavailable(let reason, _) = error, !domain.isStopping {
            error = .storeUnavailable(
                reason: "The person is shown to nobody any more, and the rest goes on by itself: "
                    + reason, retryAfter: Double(Self.patience))
        }
        failure = error
        failed = failed ?? domain.now()
        isBlocked = isFinal
        answer(.failure(error))
        guard !domain.isStopping else { return over() }
        domain.logger.log(
            isFinal ? .erasureBlocked : .erasureDelayed,
            ["actor": "\(actor.number)", "reason": "\(error.sentence)"])
        guard !isFinal else { return over() }
        domain.timers.after(.seconds(Int64(Self.patience))) { [self] in
            if domain.isStopping { over() } else { begin() }
        }
    }
}

// MARK: Records

extension PersonErasure {
    private func begin() {
        // An export that began earlier still contains the person's records.
        endExports()
        (gone, unreadable) = ([], [])
        for container in state.containers.values { container.screens?.ballotsChanged() }
        domain.read { store in
            try store.containers()
        } then: { [self] result in
            switch result {
            case .failure(let error): fail(.unreadable(error))
            case .success(let names): next(names[...])
            }
        }
    }

    /// Erases the person from the components of the first container, then from the remaining containers.
    private func next(_ names: ArraySlice<String>) {
        guard let name = names.first else { return eraseRecent(0) }
        guard !name.isEmpty else { return next(names.dropFirst()) }
        // Its turn in the queue keeps its components from changing meanwhile.
        changes.add([name]) { [self] finished in
            let home = state.containers[name]
            let done: Answer<Void> = { [self] result in
                finished()
                switch result {
                case .failure(let error): fail(error)
                case .success: next(names.dropFirst())
                }
            }
            guard let home else { return erase(from: name, at: nil, done) }
            home.loading.whenOver { [self] in erase(from: name, at: home, done) }
        }
    }

    private func erase(from name: String, at home: Container?, _ done: @escaping Answer<Void>) {
        domain.read { store in
            try store.components(of: name)
        } then: { [self] result in
            switch result {
            case .failure(let error): done(.failure(.unreadable(error)))
            case .success(let components):
                erase(components[...], of: name, at: home, done)
            }
        }
    }

    private func erase(
        _ components: ArraySlice<String>, of name: String, at home: Container?,
        _ done: @escaping Answer<Void>
    ) {
        guard let component = components.first else { return done(.success(())) }
        let rest = components.dropFirst()
        switch home?.slot(component)?.kind ?? home?.remains[component]?.kind {
        case .contents, .filters: return erase(rest, of: name, at: home, done)
        default: break
        }
        ActorErasure(of: actor, from: component, in: name, at: home, domain)
            .run { [self] found, error in
                count(found, of: component, in: name)
                if let error { return done(.failure(error)) }
                erase(rest, of: name, at: home, done)
            }
    }

    private func count(_ found: ActorErasure.Found, of component: String, in container: String) {
        result.ballots += found.erasedBallots
        result.comments += found.erasedComments
        if let records = found.unreadable.records {
            unreadable.append("\(container)/\(component) has \(records)")
        }
        for comment in found.comments {
            part.add(RecordKey(container: container, component: component, key: comment.id))
        }
    }
}

// MARK: Notifications

extension PersonErasure {
    private func eraseRecent(_ after: Int64) {
        if domain.isStopping { return fail(domain.stopping) }
        let part = part
        domain.read { store in
            var slice = PastSlice(part: part)
            try slice.read(after: after, limit: Self.slice, from: store)
            return slice
        } then: { [self] result in
            switch result {
            case .failure(let error): fail(.unreadable(error))
            case .success(let slice):
                self.part = slice.part
                gone += slice.gone
                past.formUnion(slice.changed)
                if let last = slice.last { return eraseRecent(last) }
                eraseFromRing()
            }
        }
    }

    private func eraseFromRing() {
        var place: UInt64 = 0
        domain.slices.run { [self] in
            domain.bus.erase(&part, from: &place)
        } then: { [self] in
            eraseFromFiles()
        }
    }

    /// Erases the notifications and the name from the store's files.
    ///
    /// On a thread of its own, because it waits for the disk and other reads must not.
    private func eraseFromFiles() {
        if domain.isStopping { return fail(domain.stopping) }
        endExports()
        let (store, loop, number, gone) = (domain.store, domain.loop, actor.number, gone)
        let then = NIOLoopBound(
            { [self] (result: Result<[String], any Error>) in
                switch result {
                case .failure(let error):
                    var isDamaged = false
                    if case StoreError.corrupt = error { isDamaged = true }
                    fail(
                        .storeUnavailable(reason: "\(error)", retryAfter: 1), isDamaged: isDamaged)
                case .success(let copies): finish(copies)
                }
            }, eventLoop: loop)
        DispatchQueue(label: "atrium.erasure", qos: .utility).async {
            let result = Result {
                try store.erase(number, notifications: gone)
                return store.copies
            }
            loop.execute { then.value(result) }
        }
    }

    /// Ends verifications, exports and backups: their open snapshots would keep the log from being emptied.
    private func endExports() {
        state.verifications.end(
            because: .storeUnavailable(
                reason: "The verification was ended because somebody is being erased; begin again.",
                retryAfter: 10))
        state.exports.open.endAll()
        state.backups.open.endAll()
    }

    private func finish(_ copies: [String]) {
        guard unreadable.isEmpty else {
            return fail(
                .storeUnavailable(
                    reason: unreadable.joined(separator: "; ")
                        + ". It is unknown whether they are the person's; "
                        + "the rest is gone. Restore a backup, write these records anew, or detach their component "
                        + "with purge; then restart", retryAfter: nil), isDamaged: true)
        }
        domain.append([change(nil)]) { [self] outcome in
            switch outcome {
            case .failure(let error): fail(error)
            case .success(let commit):
                failure = nil
                isBlocked = false
                domain.bus.readAgain()
                result.notifications = past.count
                result.sequence = commit.sequence
                result.copies = copies
                domain.logger.log(
                    .personErased,
                    [
                        "actor": "\(actor.number)", "ballots": "\(result.ballots)",
                        "comments": "\(result.comments)",
                        "notifications": "\(result.notifications)",
                    ])
                answer(.success(result))
                over()
            }
        }
    }
}

extension HostError {
    /// The error of a caller whose erasure could not even be noted.
    var asNotBegun: HostError {
        guard case .storeUnavailable(let reason, let retryAfter) = self else { return self }
        return .storeUnavailable(
            reason:
                "Nothing of the person is erased: ask again, since it could not be noted that the erasure has begun. "
                + reason, retryAfter: retryAfter)
    }
}
