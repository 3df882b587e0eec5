public import Host

/// Has everyone go by other roles at once.
public enum RoleReview {
    /// Ends screens that wait to be resumed and that their users might not open any more.
    ///
    /// Their connections are gone: a user is judged by what it has for itself and by the groups that the
    /// system's directory says it is in. Those that are read are judged with their connections.
    ///
    /// - Parameters:
    ///   - registry: whose screens.
    ///   - book: who may do what now.
    public static func endUnreadScreens(of registry: isolated Registry, by book: AccessBook) {
        registry.endUnread { screen in
            guard
                screen.actor != nil && screen.actor != screen.owner
                    || screen.agent != screen.owner
            else { return nil }
            guard let access = book.access(ofOwner: screen.owner) else { return nil }
            let refusal = ActorRefusal.caught { () throws(ActorRefusal) in
                try access.requireScreen(
                    of: screen.actor, agent: screen.agent, own: screen.owner)
            }
            return refusal.map { "The roles were changed. \($0.reason)" }
        }
    }
}
