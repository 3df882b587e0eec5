import Host
import Interfaces
import LogMessages
import Logging
import Synchronization
import Varlink

/// The registry, the roles of peers and the log of gaps, which all services share.
struct ControlContext: Sendable {
    let registry: Registry
    let accessBook: AccessBook
    let missedLog: MissedLog

    /// The caller for a peer that acts on its own behalf.
    func own(_ peer: Peer) -> Caller {
        let (role, actor) = (accessBook.access(of: peer).role, user(peer))
        let pace: Caller.Pace =
            role >= .moderator ? .free : role == .frontend ? .frontend(actor) : .person
        return Caller(actor: actor, isModerator: role >= .moderator, pace: pace)
    }

    /// Whether a peer reads how components failed, which may name paths and what workers printed.
    func seesDetails(_ peer: Peer) -> Bool { own(peer).isModerator }

    /// The user whose calls are counted together, and take turns with those of other users.
    func user(_ peer: Peer) -> String { "unix:" + String(peer.uid) }

    /// The caller for a peer that writes, for itself or for the actor that it names, if it may.
    func writer(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> Caller {
        let own = own(peer)
        guard let actor, actor != own.actor else { return own }
        let access = accessBook.access(of: peer)
        try access.requireWriting(as: actor, own: own.actor)
        // The actor gets none of the peer's rights.
        return Caller(
            actor: actor, isModerator: false,
            pace: access.role == .admin ? .free : .frontend(own.actor))
    }

    /// Passes the container that a call names to `body` once it is loaded, or fails the call.
    func find<Reply>(
        _ container: String, for call: VarlinkCall<Reply>, in interface: any VarlinkInterface.Type,
        _ body: @escaping (Host.Container) -> Void
    ) {
        if let container = registry.container(container) { return body(container) }
        registry.find(container, of: user(call.peer)) { found in
            switch found {
            case .success(let container): body(container)
            case .failure(let error): call.fail(error.reply(of: interface))
            }
        }
    }

    /// Returns the caller for a call that writes, and applies the rate limits; nil: the peer may not write, or
    /// exceeds a limit, and the call has failed.
    func admit<Reply>(
        _ call: VarlinkCall<Reply>, in interface: any VarlinkInterface.Type, as actor: String?
    ) -> Caller? {
        do {
            let caller = try writer(call.peer, as: actor)
            guard let refusal = registry.refusal(ofWriting: call.bytes, by: caller) else {
                return caller
            }
            call.fail(refusal.reply(of: interface))
        } catch {
            call.fail(error.reply)
        }
        return nil
    }

    /// Runs a read that may show the ballots of the actor that it names, or fails the call.
    func read<Reply>(
        _ call: VarlinkCall<Reply>, of container: String, in interface: any VarlinkInterface.Type,
        as actor: String?, _ body: @escaping (Host.Container) -> Void
    ) {
        do {
            let actor = try reader(call.peer, as: actor)
            find(container, for: call, in: interface, body)
            reviewRead(call) { refusal(of: call.peer, as: actor)?.reply }
        } catch {
            call.fail(error.reply)
        }
    }

    private func refusal(of peer: Peer, as actor: String?) -> ActorRefusal? {
        ActorRefusal.caught { () throws(ActorRefusal) in _ = try reader(peer, as: actor) }
    }

    /// Why a peer may not have a screen or act on it; nil: it may.
    func obstacle(
        toScreenOf actor: String?, agent: String?, by peer: Peer
    ) -> ActorRefusal? {
        let access = accessBook.access(of: peer)
        return ActorRefusal.caught { () throws(ActorRefusal) in
            try access.requireScreen(of: actor, agent: agent, own: user(peer))
        }
    }

    /// The actor whose ballot a read shows as `mine`; throws if the peer may not see it.
    func reader(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> String? {
        try accessBook.access(of: peer).requireReading(as: actor, own: user(peer))
        return actor
    }

    /// Why a peer may not call a method that wants a role; nil: it may.
    func denial(
        of method: String, wanting role: Role, to peer: Peer
    ) -> Interfaces.Daemon.RoleRequired? {
        accessBook.denial(of: method, wanting: role, to: peer)
    }

    /// Why a peer may not receive the actors and restricted parts of notifications; nil: it may.
    func denialOfRestricted(to peer: Peer) -> Interfaces.Daemon.RoleRequired? {
        denial(of: Notifications.Subscribe.name, wanting: .moderator, to: peer)
    }

    /// Fails a call that has not been answered yet, once its peer loses the right to the answer.
    ///
    /// Only for reads: the caller of a write always gets its result.
    func reviewRead<Reply, Refusal: VarlinkErrorReply>(
        _ call: VarlinkCall<Reply>, _ refusal: @escaping @Sendable () -> Refusal?
    ) {
        call.onReview { if let refusal = refusal() { call.fail(refusal) } }
    }
}

/// Logs the gaps of subscribers.
final class MissedLog: Sendable {
    /// The most lines in a minute for one user.
    private static let lines = 10

    private let log: Mutex<PeerLog>

    init(_ logger: Logger) { log = Mutex(PeerLog(lines: Self.lines, logger: logger)) }

    func log(_ gap: SubscriptionBatch.Gap, _ peer: Peer) {
        log.withLock { log in
            log.sweep(now: .now)
            log.log(
                .notificationsMissed,
                ["from": "\(gap.from)", "to": "\(gap.to)", "reason": gap.reason.rawValue],
                uid: peer.uid, pid: peer.pid, now: .now)
        }
    }
}

extension VarlinkCall {
    /// Replies to the call with the host's result.
    ///
    /// - Parameters:
    ///   - result: the result.
    ///   - interface: the interface of the call's method.
    ///   - hasDetails: whether an error says how a component failed: for methods of moderators and administrators.
    ///   - reply: makes the reply.
    func answer<Success>(
        _ result: Result<Success, HostError>, in interface: any VarlinkInterface.Type,
        hasDetails: Bool = false, _ reply: (Success) -> Reply
    ) {
        switch result {
        case .success(let success): self.reply(reply(success))
        case .failure(let error): fail(error.reply(of: interface, hasDetails: hasDetails))
        }
    }
}
