import Interfaces

// Checks for which actors a peer may act and read.
extension Access {
    /// Throws the reason if a peer, whose own actor is `own`, may not write for an actor; nil: for itself.
    func requireWriting(as actor: String?, own: String) throws(ActorRefusal) {
        guard let actor, actor != own else { return }
        try ActorRefusal.checkForm(of: actor)
        if role == .admin { return }
        guard role >= .frontend, let namespace else {
            let article = role == .observer ? "an" : "a"
            throw ActorRefusal(
                actor: actor,
                reason: "You are \(own), \(article) \(role.rawValue); only a frontend acts for "
                    + "others. Leave the actor out to act for yourself.")
        }
        guard actor.hasPrefix("\(namespace):") else {
            throw ActorRefusal(
                actor: actor, reason: "You act for actors of the namespace \(namespace) alone.")
        }
    }

    /// Checks that a peer may see the ballots of an actor as `mine`.
    ///
    /// It may see its own, those of actors for which it may act, and as a moderator everyone's.
    func requireReading(as actor: String?, own: String) throws(ActorRefusal) {
        guard let actor, actor != own else { return }
        guard role < .moderator else { return try ActorRefusal.checkForm(of: actor) }
        try requireWriting(as: actor, own: own)
    }

    /// Throws the reason if a screen that shows the ballots of `actor` as `mine`, and on which items are chosen for
    /// `agent`, may not be shown to its user, or the user may not act on it.
    func requireScreen(of actor: String?, agent: String?, own: String) throws(ActorRefusal) {
        try requireReading(as: actor, own: own)
        try requireWriting(as: agent, own: own)
    }
}

/// Why a peer may not act for an actor.
struct ActorRefusal: Error {
    let actor: String
    let reason: String

    var reply: Interfaces.Daemon.ActorForbidden { .init(actor: actor, reason: reason) }

    /// Returns the error that a check throws.
    static func caught(_ check: () throws(ActorRefusal) -> Void) -> ActorRefusal? {
        do {
            try check()
            return nil
        } catch {
            return error
        }
    }

    static func checkForm(of actor: String) throws(ActorRefusal) {
        guard let colon = actor.firstIndex(of: ":"), colon != actor.startIndex,
            actor.index(after: colon) != actor.endIndex, actor.utf8.count <= 200,
            actor.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw ActorRefusal(
                actor: actor,
                reason: "An actor is written namespace:name, in at most 200 bytes.")
        }
        // Of one user there would be several actors.
        guard actor.hasPrefix("unix:") else { return }
        let name = actor.dropFirst("unix:".count)
        guard let uid = UInt32(name), uid < .max, "\(uid)" == name else {
            throw ActorRefusal(
                actor: actor,
                reason:
                    "A user of the machine is written unix:UID, with the number that 'id -u' prints."
            )
        }
    }
}
