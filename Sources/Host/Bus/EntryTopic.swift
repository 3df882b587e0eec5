/// The topics of the durable notifications that the host itself posts.
///
/// Topics that clients or definitions choose are not among them.
enum EntryTopic: String, CaseIterable {
    case itemsPut = "items.put"
    case itemsRemoved = "items.removed"
    case votesCast = "votes.cast"
    case votesRetracted = "votes.retracted"
    case commentsPosted = "comments.posted"
    case commentsEdited = "comments.edited"
    case commentsRemoved = "comments.removed"
    case commentsModerated = "comments.moderated"
    case recordsRestored = "records.restored"
    case recordsErased = "records.erased"
    case componentAttached = "components.attached"
    case componentDetached = "components.detached"
    case componentMoved = "components.moved"
    case componentHidden = "components.hidden"
    case componentShown = "components.shown"
    case containerCreated = "daemon.containers.created"
    case containerChanged = "daemon.containers.changed"
    case containerDeleted = "daemon.containers.deleted"

    /// Returns the full topic for a container.
    func name(in container: String) -> String {
        rawValue.hasPrefix("daemon.") ? rawValue : "\(container).\(rawValue)"
    }
}
