/// Which component an event comes from: its name in the container and its kind.
public struct ComponentReference: Sendable, Hashable {
    /// The name in the container.
    public var name: String
    /// The kind.
    public var kind: Kind

    /// A reference.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// What a ``ContainerDelegate`` may ask of its container.
public protocol ContainerHandle: AnyObject {
    /// The container's name.
    var name: String { get }
    /// Shows on a screen what a selection lets through.
    func show(_ selection: Selection, on screen: String)
    /// Shows an item's children on a screen.
    func enter(_ item: String, on screen: String)
    /// Shows on a screen what it showed before the last item was entered.
    func back(on screen: String)
    /// Puts the items of a source into its list.
    func updateList(of component: ComponentReference, with change: ContentChange)
    /// Sets fields that are derived from votes, to sort and filter by: `votes.score`, `votes.count`.
    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference)
    /// Sets the field that is derived from comments: `comments.count`.
    func updateCommentCount(_ count: Int, of subject: Subject, from component: ComponentReference)
    /// Posts the transient notification `<container>.<name>`.
    func publish(_ name: String, _ payload: [String: Value])
}

/// The delegate of all components of one container, or of what happens in one of its scopes.
///
/// Its methods *are* the default wiring; a class of its own overrides what it cares for, and
/// inherits the rest.
///
/// A container with scopes has one for each of them too: that one is told of what users do on screens
/// in its scope (filters, and items that they choose). All else, which belongs to no screen, is the
/// container's: what components decide and report.
///
/// `should…` is asked before the component sees the command; nil lets it through. `did…` is called
/// at the commit, never before, and after the component has returned.
open class ContainerDelegate {
    /// The container; nil once it is gone.
    public internal(set) weak var container: (any ContainerHandle)?

    /// A delegate that is not wired yet.
    public init() {}

    /// Wires the delegate to its container.
    ///
    /// Called by the host.
    public final func attach(to container: any ContainerHandle) { self.container = container }

    /// Whether a ballot may go to its component; a refusal vetoes it.
    ///
    /// Default: it may.
    open func votes(_ component: ComponentReference, shouldAccept ballot: Ballot) -> Refusal? {
        nil
    }

    /// Whether a comment may go to its component; a refusal vetoes it.
    ///
    /// Default: it may.
    open func comments(
        _ component: ComponentReference, shouldAccept draft: CommentDraft, by author: ActorID
    ) -> Refusal? { nil }

    /// A source's items changed.
    ///
    /// Default: its list follows.
    open func contents(_ component: ComponentReference, didChange change: ContentChange) {
        container?.updateList(of: component, with: change)
    }

    /// A user chose an item on a screen.
    ///
    /// Who only wants to know listens to the notification that the container's definition, or the
    /// scope's, names under `activate`. Default: nothing.
    open func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {}

    /// Which selection a screen shows, once a component has selected, deselected or cleared filters.
    ///
    /// Default: the component's.
    open func filters(
        _ component: ComponentReference, willShow selection: Selection, on screen: String
    ) -> Selection { selection }

    /// A filter was selected.
    ///
    /// Default: nothing.
    open func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {}

    /// A filter was deselected.
    ///
    /// Default: nothing.
    open func filters(
        _ component: ComponentReference, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {}

    /// A selection was cleared.
    ///
    /// Default: nothing.
    open func filters(_ component: ComponentReference, didClearOn screen: String) {}

    /// A tally changed.
    ///
    /// Default: the items' derived fields follow.
    open func votes(
        _ component: ComponentReference, didChange tally: Tally, of subject: Subject
    ) {
        container?.updateTally(tally, of: subject, from: component)
    }

    /// A comment was posted.
    ///
    /// Default: nothing.
    open func comments(_ component: ComponentReference, didPost comment: Comment) {}
    /// A comment was edited or moderated.
    ///
    /// Default: nothing.
    open func comments(_ component: ComponentReference, didEdit comment: Comment) {}
    /// A comment was removed.
    ///
    /// Default: nothing.
    open func comments(_ component: ComponentReference, didRemove comment: Comment) {}

    /// The number of comments changed.
    ///
    /// Default: the items' derived field follows.
    open func comments(
        _ component: ComponentReference, didChange count: Int, of subject: Subject
    ) {
        container?.updateCommentCount(count, of: subject, from: component)
    }
}
