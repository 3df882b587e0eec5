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
    /// What is chosen on a screen; nil: there is no such screen on this container.
    func choices(of screen: String) -> ScreenChoices?
    /// Changes what is chosen on a screen, once the choices before are shown; the delegate is not asked about it.
    ///
    /// What can't be shown (a filter, an item or a scope that is not there) changes nothing, and is logged.
    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void)
    /// Sends a message to who has the screen, with its next revision and never again.
    ///
    /// It has at most 500 characters; what is longer is cut. Of several before a revision the last is sent.
    func message(_ text: String, on screen: String)
    /// Leads who has the screen to another container, focused on an item of it: the client opens that.
    ///
    /// Sent with the next revision and never again.
    func lead(_ screen: String, to container: String, item: String?)
    /// Puts the items of a source into its list.
    func updateList(of component: ComponentReference, with change: ContentChange)
    /// Sets fields that are derived from votes, to sort and filter by: `votes.score`, `votes.count`.
    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference)
    /// Sets the field that is derived from comments: `comments.count`.
    func updateCommentCount(_ count: Int, of subject: Subject, from component: ComponentReference)
    /// Posts the transient notification `<container>.<name>`; with the name `reload` it does what ``reload(_:)`` does for
    /// all components, too.
    func publish(_ name: String, _ payload: [String: Value])
    /// Has components look at their sources again, each at most once a second.
    ///
    /// - Parameter component: its name; nil: all of the container.
    func reload(_ component: String?)
}

/// The delegate of all components of one container, or of what happens in one of its scopes.
///
/// Its methods *are* the default wiring; a class of its own overrides what it cares for, and
/// inherits the rest. A plugin of the kind `delegate` exports such a class, and a definition names the
/// plugin: `delegate: org.example.agenda`, for the container or for a scope.
///
/// The scope's delegate is called for what users do on screens in that scope (filters, and items that they
/// choose); a scope that names none has the container's. The container's delegate is called for all else,
/// which belongs to no screen: what components decide and report.
///
/// `should…` is asked before the component sees the command; nil lets it through. `did…` is called
/// at the commit, never before, and after the component has returned. Every method is called on the
/// daemon's one serial domain, and must return at once: while it runs, nobody is served.
///
/// A delegate has no records, and is made anew at each start of the daemon, and when its settings or the
/// container's fields change: what it decides must follow from its settings and from what it is asked.
open class ContainerDelegate {
    /// The options it understands.
    ///
    /// Anything else in its settings is refused before `init`. None may be of the type `secret`. Default: none.
    open class var settings: [Setting] { [] }

    /// The container; nil before it is wired, and once the container is gone.
    public internal(set) weak var container: (any ContainerHandle)?

    /// The default wiring, of a container that names no delegate.
    public init() {}

    /// Makes a plugin's delegate, which is not wired yet.
    ///
    /// - Parameter context: whose it is, its settings, checked against ``settings``, and its log.
    /// - Throws: ``SettingError`` for a setting whose value makes no sense, naming it.
    public required init(context: DelegateContext) throws {}

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

    /// Whether a comment may have another text; a refusal vetoes it.
    ///
    /// Default: it may.
    open func comments(
        _ component: ComponentReference, shouldAcceptEdit text: String, of comment: String,
        by actor: ActorID
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

    /// What a screen is to show: the delegate stands between the user and the choices.
    ///
    /// Called on the delegate of `next`'s scope when a screen is opened, when its user selects, searches, sorts, goes
    /// to another scope, enters, goes back, focuses or hides, and when a filters component selects by itself.
    ///
    /// The screen shows and keeps what this returns; a resumption or a restart does not ask again. An answer that
    /// can't be shown is logged, and the screen shows `next`.
    ///
    /// The same question must have the same answer, and asked about its own answer it returns just that.
    ///
    /// - Parameters:
    ///   - screen: whose screen it is.
    ///   - next: what the user chose.
    ///   - shown: what the screen shows until now; nil: it is being opened.
    /// - Returns: what it is to show; by default what the user chose.
    open func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices { next }

    /// A user chose something on a part of a screen: on a container that stands among this one's components.
    ///
    /// Called once the part shows it. The container's own delegate decided before what that is; this one may change what
    /// the screen around it shows, or other parts: `container?.change(screen.id) { … }`. A part's own id, for
    /// ``ContainerHandle/choices(of:)`` and ``ContainerHandle/change(_:_:)``, is the screen's, `/`, and the path.
    ///
    /// - Parameters:
    ///   - screen: the screen of this container.
    ///   - path: the component's name; of a part of a part both names, with a `/` between.
    ///   - choices: what the part shows. Default: nothing.
    open func screen(
        _ screen: ScreenReference, part path: String, didShow choices: ScreenChoices
    ) {}

    /// A user chose an item on a part of a screen; called after the part's own delegate.
    ///
    /// - Parameters:
    ///   - screen: the screen of this container.
    ///   - path: the component's name; of a part of a part both names, with a `/` between.
    ///   - item: the item, of the part's container. Default: nothing.
    open func screen(_ screen: ScreenReference, part path: String, didSelect item: String) {}

    /// Items of a part changed: of a container that stands among this one's components.
    ///
    /// This and the other `part(…)` methods are called on the container's delegate, never on a scope's, after those of the
    /// part's own delegate: once, however many screens are open, and whether or not one shows the part. They are called
    /// for what components report after their start, and not for what they know at it. Default: nothing.
    ///
    /// - Parameters:
    ///   - part: the part.
    ///   - component: the part's component.
    ///   - change: what changed; after `.replaceAll` the items don't follow.
    open func part(
        _ part: PartReference, contents component: ComponentReference,
        didChange change: ContentChange
    ) {}

    /// A tally changed in a part.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, votes component: ComponentReference, didChange tally: Tally,
        of subject: Subject
    ) {}

    /// A comment was posted in a part.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, comments component: ComponentReference, didPost comment: Comment
    ) {}

    /// A comment in a part was edited or moderated.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, comments component: ComponentReference, didEdit comment: Comment
    ) {}

    /// A comment in a part was removed.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, comments component: ComponentReference, didRemove comment: Comment
    ) {}

    /// The number of comments on something in a part changed.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, comments component: ComponentReference, didChange count: Int,
        of subject: Subject
    ) {}

    /// A filter was selected: what the component answered, before ``screen(_:willShow:after:)`` is asked.
    ///
    /// Default: nothing.
    open func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {}

    /// A filter was deselected, as in a selection.
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
