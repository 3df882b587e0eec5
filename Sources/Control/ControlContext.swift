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

    /// On whose behalf a peer writes: itself, or the actor that it names, if it may.
    func writer(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> Caller {
        let own = own(peer)
        guard let actor, actor != own.actor else { return own }
        let access = accessBook.access(of: peer)
        try check(actor, access, own: own.actor)
        // Acting for somebody else gives that person no rights beyond their own.
        return Caller(
            actor: actor, isModerator: false,
            pace: access.role == .admin ? .free : .frontend(own.actor))
    }

    /// Does what a call asks on behalf of the actor that it names, or fails it; also where they write
    /// faster than they may.
    func write<Reply>(
        _ call: VarlinkCall<Reply>, in interface: any VarlinkInterface.Type, as actor: String?,
        _ body: @Sendable (isolated Registry, Caller) -> Void
    ) {
        do {
            let caller = try writer(call.peer, as: actor)
            registry.assumeIsolated { registry in
                if let refusal = registry.refusal(ofWriting: call.bytes, by: caller) {
                    return call.fail(refusal.reply(of: interface))
                }
                body(registry, caller)
            }
        } catch {
            call.fail(error.reply)
        }
    }

    /// Answers a read that may show the ballots of the actor that it names, or fails it.
    func read<Reply>(
        _ call: VarlinkCall<Reply>, as actor: String?,
        _ body: @Sendable (isolated Registry, String?) -> Void
    ) {
        do {
            let actor = try reader(call.peer, as: actor)
            registry.assumeIsolated { body($0, actor) }
        } catch {
            call.fail(error.reply)
        }
    }

    /// Whose ballot a read shows as `mine`: the peer's own, or another's, for those who may see it.
    func reader(_ peer: Peer, as actor: String?) throws(ActorRefusal) -> String? {
        guard let actor, actor != "unix:\(peer.uid)" else { return actor }
        let access = accessBook.access(of: peer)
        if access.role < .moderator {
            try check(actor, access, own: "unix:\(peer.uid)")
        } else {
            try checkForm(of: actor)
        }
        return actor
    }

    private func checkForm(of actor: String) throws(ActorRefusal) {
        guard let colon = actor.firstIndex(of: ":"), colon != actor.startIndex,
            actor.index(after: colon) != actor.endIndex, actor.utf8.count <= 200,
            actor.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw ActorRefusal(
                actor: actor,
                reason: "An actor is written namespace:name, in at most 200 bytes.")
        }
    }

    private func check(_ actor: String, _ access: Access, own: String) throws(ActorRefusal) {
        try checkForm(of: actor)
        if access.role == .admin { return }
        guard access.role >= .frontend, let namespace = access.namespace else {
            throw ActorRefusal(
                actor: actor,
                reason: "You are \(own), a \(access.role.rawValue); only a frontend acts for "
                    + "others. Leave the actor out to act for yourself.")
        }
        guard actor.hasPrefix("\(namespace):") else {
            throw ActorRefusal(
                actor: actor, reason: "You act for actors of the namespace \(namespace) alone.")
        }
    }
}

/// Why a peer may not act for an actor.
struct ActorRefusal: Error {
    let actor: String
    let reason: String

    var reply: Interfaces.Daemon.ActorForbidden { .init(actor: actor, reason: reason) }
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
    func settle<Success>(
        _ result: Result<Success, HostError>, in interface: any VarlinkInterface.Type,
        _ reply: (Success) -> Reply
    ) {
        switch result {
        case .success(let success): self.reply(reply(success))
        case .failure(let error): fail(error.reply(of: interface))
        }
    }
}
