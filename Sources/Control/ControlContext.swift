import Host
import Interfaces
import LogMessages
import Logging
import Synchronization
import Varlink

/// What all services share: the registry, and who may do what.
struct ControlContext: Sendable {
    let registry: Registry
    let accessBook: AccessBook
    let missedLog: MissedLog

    /// A peer on its own behalf.
    func own(_ peer: Peer) -> Caller {
        let (role, actor) = (accessBook.access(of: peer).role, "unix:\(peer.uid)")
        let pace: Caller.Pace =
            role >= .moderator ? .free : role == .frontend ? .frontend(actor) : .person
        return Caller(actor: actor, isModerator: role >= .moderator, pace: pace)
    }

    /// Whose calls are counted together, and take turns with those of others.
    func user(_ peer: Peer) -> String { "unix:\(peer.uid)" }

    /// On whose behalf a peer writes: itself, or the actor that it names, if it may.
    func writer(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> Caller {
        let own = own(peer)
        guard let actor, actor != own.actor else { return own }
        let access = accessBook.access(of: peer)
        try access.requireWriting(as: actor, own: own.actor)
        // Acting for somebody else gives that person no rights beyond their own.
        return Caller(
            actor: actor, isModerator: false,
            pace: access.role == .admin ? .free : .frontend(own.actor))
    }

    /// Passes the container that a call names to `body`, once it is there; or fails the call.
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

    /// On whose behalf a call writes: its peer's, or that of the actor that it names.
    ///
    /// - Returns: nil: they may not, or write faster than they may, and the call has failed.
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

    /// Answers a read that may show the ballots of the actor that it names, or fails it.
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

    /// Why a peer may not have a screen, nor act on it; nil: it may.
    func obstacle(
        toScreenOf actor: String?, agent: String?, by peer: Peer
    ) -> ActorRefusal? {
        let access = accessBook.access(of: peer)
        return ActorRefusal.caught { () throws(ActorRefusal) in
            try access.requireScreen(of: actor, agent: agent, own: "unix:\(peer.uid)")
        }
    }

    /// Whose ballot a read shows as `mine`: the peer's own, or another's, for those who may see it.
    func reader(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> String? {
        try accessBook.access(of: peer).requireReading(as: actor, own: "unix:\(peer.uid)")
        return actor
    }

    /// Why a peer may not call a method that wants a role; nil: it may.
    func denial(
        of method: String, wanting role: Role, to peer: Peer
    ) -> Interfaces.Daemon.RoleRequired? {
        accessBook.denial(of: method, wanting: role, to: peer)
    }

    /// Why a peer may not be told who did what, as subscribers are; nil: it may.
    func denialOfRestricted(to peer: Peer) -> Interfaces.Daemon.RoleRequired? {
        denial(of: Notifications.Subscribe.name, wanting: .moderator, to: peer)
    }

    /// Fails a call that has not been answered yet once its peer may not be told the answer any more.
    ///
    /// For reads: whether something was written, its caller is told all the same.
    func reviewRead<Reply, Refusal: VarlinkErrorReply>(
        _ call: VarlinkCall<Reply>, _ refusal: @escaping @Sendable () -> Refusal?
    ) {
        call.onReview { if let refusal = refusal() { call.fail(refusal) } }
    }
}

/// Tells which subscribers can't be told everything since their cursors.
final class MissedLog: Sendable {
    /// Lines a minute for one user.
    private static let lines = 10

    private let log: Mutex<PeerLog>

    init(_ logger: Logger) { log = Mutex(PeerLog(lines: Self.lines, logger: logger)) }

    /// Tells of one gap.
    func tell(_ gap: SubscriptionBatch.Gap, _ peer: Peer) {
        log.withLock { log in
            log.sweep(now: .now)
            log.tell(
                .notificationsMissed,
                ["from": "\(gap.from)", "to": "\(gap.to)", "reason": gap.reason.rawValue],
                uid: peer.uid, pid: peer.pid, now: .now)
        }
    }
}

extension VarlinkCall {
    /// Ends the call with what the host answered.
    func answer<Success>(
        _ result: Result<Success, HostError>, in interface: any VarlinkInterface.Type,
        _ reply: (Success) -> Reply
    ) {
        switch result {
        case .success(let success): self.reply(reply(success))
        case .failure(let error): fail(error.reply(of: interface))
        }
    }
}
