/// The component that an event comes from: its name in the container and its kind.
public struct ComponentReference: Sendable, Hashable {
    /// The name in the container.
    public var name: String
    /// The kind.
    public var kind: Kind

    /// Creates a reference.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// The operations on a container that its ``ContainerDelegate`` may use.
public protocol ContainerHandle: AnyObject {
    /// The container's name.
    var name: String { get }
    /// Returns the choices of a screen; nil if this container has no such screen.
    func choices(of screen: String) -> ScreenChoices?
    /// Changes the choices of a screen, after the previous choices are shown; the delegate is not asked about it.
    ///
    /// A change that can't be shown (an unknown filter, item or scope) has no effect and is logged.
    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void)
    /// Sends a message to the screen's user, once, with the next revision.
    ///
    /// It has at most 500 characters; a longer one is cut. Of several before a revision the last is sent.
    func message(_ text: String, on screen: String)
    /// Asks the screen's client, once, to open another container, focused on an item of it.
    ///
    /// Sent with the next revision.
    func lead(_ screen: String, to container: String, item: String?)
    /// Applies a source's change to its list.
    func updateList(of component: ComponentReference, with change: ContentChange)
    /// Sets the fields that are derived from votes, to sort and filter by: `votes.score`, `votes.count`.
    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference)
    /// Sets the field that is derived from comments: `comments.count`.
    func updateCommentCount(_ count: Int, of subject: Subject, from component: ComponentReference)
    /// Posts the transient notification `<container>.<name>`; the name `reload` also reloads all components, as
    /// ``reload(_:)`` does.
    func publish(_ name: String, _ payload: [String: Value])
    /// Makes components read their sources again, each at most once a second.
    ///
    /// - Parameter component: the component's name; nil: all components of the container.
    func reload(_ component: String?)
}

/// The delegate of all components of one container, or of user actions in one of its scopes.
///
/// Its methods *are* the default wiring; a subclass overrides some of them and inherits the rest. A plugin of the kind
/// `delegate` exports such a class, and a definition names the plugin: `delegate: org.example.agenda`, for the
/// container or for a scope.
///
/// The scope's delegate is called for what users do on screens in that scope (filters, and items that they choose); a
/// scope without a delegate uses the container's. The container's delegate is called for everything that belongs to no
/// screen: the decisions and reports of components.
///
/// `should…` is asked before the component sees the command; nil lets it through. `did…` is called
/// at the commit, never before, and after the component has returned. Every method is called on the
/// daemon's one serial domain, and must return at once: while it runs, nobody is served.
///
/// A delegate has no records. It is created again at each start of the daemon, and when its settings or the container's
/// fields change: its decisions must follow from its settings and arguments only.
open class ContainerDelegate {
    /// The options it understands.
    ///
    /// Anything else in its settings is refused before `init`. None may be of the type `secret`. Default: none.
    open class var settings: [Setting] { [] }

    /// The container; nil before ``attach(to:)``, and once the container is gone.
    public internal(set) weak var container: (any ContainerHandle)?

    /// Creates the default wiring, for a container that names no delegate.
    public init() {}

    /// Creates a plugin's delegate, which is not attached yet.
    ///
    /// - Parameter context: the container's name, the settings, checked against ``settings``, and the log.
    /// - Throws: ``SettingError`` for a setting whose value makes no sense, naming it.
    public required init(context: DelegateContext) throws {}

    /// Attaches the delegate to its container.
    ///
    /// Called by the host.
    public final func attach(to container: any ContainerHandle) { self.container = container }

    /// Decides whether a ballot may go to its component; a refusal vetoes it.
    ///
    /// Default: nil, which lets it through.
    open func votes(_ component: ComponentReference, shouldAccept ballot: Ballot) -> Refusal? {
        nil
    }

    /// Decides whether a comment may go to its component; a refusal vetoes it.
    ///
    /// Default: nil, which lets it through.
    open func comments(
        _ component: ComponentReference, shouldAccept draft: CommentDraft, by author: ActorID
    ) -> Refusal? { nil }

    /// Decides whether a comment's text may be changed; a refusal vetoes it.
    ///
    /// Default: nil, which lets it through.
    open func comments(
        _ component: ComponentReference, shouldAcceptEdit text: String, of comment: String,
        by actor: ActorID
    ) -> Refusal? { nil }

    /// A source's items changed.
    ///
    /// Default: updates the component's list.
    open func contents(_ component: ComponentReference, didChange change: ContentChange) {
        container?.updateList(of: component, with: change)
    }

    /// A user chose an item on a screen.
    ///
    /// To be informed only, observe the notification that the definition of the container or scope names under
    /// `activate`. Default: nothing.
    open func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {}

    /// Decides what a screen shows after its user chose something.
    ///
    /// Called on the delegate of `next`'s scope when a screen is opened, when its user selects, searches, sorts, goes
    /// to another scope, enters, goes back, focuses or hides, and when a filters component selects by itself.
    ///
    /// The screen shows and keeps the returned choices; a resumption or a restart does not ask again. Choices that
    /// can't be shown are logged, and the screen shows `next`.
    ///
    /// Must be deterministic and idempotent: equal arguments give equal results, and a returned value passed as `next`
    /// is returned unchanged.
    ///
    /// - Parameters:
    ///   - screen: the screen and its user.
    ///   - next: the user's choices.
    ///   - shown: the choices that the screen shows now; nil while it is being opened.
    /// - Returns: the choices to show; by default `next`.
    open func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices { next }

    /// A user chose something on a part of a screen, which is a container among this one's components.
    ///
    /// Called once the part shows the choices, which the part's own delegate decided before. This delegate may change
    /// what the surrounding screen shows, or other parts: `container?.change(screen.id) { … }`. A part's own id, for
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

    /// Items of a part, a container among this one's components, changed.
    ///
    /// This and the other `part(…)` methods are called on the container's delegate, never on a scope's, after those of
    /// the part's own delegate: once, however many screens are open, and whether or not one shows the part. They are
    /// called only for changes reported after a component's start, not for its initial state. Default: nothing.
    ///
    /// - Parameters:
    ///   - part: the part.
    ///   - component: the part's component.
    ///   - change: the change; after `.replaceAll` the items don't follow.
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

    /// The number of comments on a subject in a part changed.
    ///
    /// Default: nothing.
    open func part(
        _ part: PartReference, comments component: ComponentReference, didChange count: Int,
        of subject: Subject
    ) {}

    /// A filter was selected; called before ``screen(_:willShow:after:)``.
    ///
    /// Default: nothing.
    open func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {}

    /// A filter was deselected; called before ``screen(_:willShow:after:)``.
    ///
    /// Default: nothing.
    open func filters(
        _ component: ComponentReference, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {}

    /// A selection was cleared; called before ``screen(_:willShow:after:)``.
    ///
    /// Default: nothing.
    open func filters(_ component: ComponentReference, didClearOn screen: String) {}

    /// A tally changed.
    ///
    /// Default: updates the items' derived fields.
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
    /// Default: updates the items' derived field.
    open func comments(
        _ component: ComponentReference, didChange count: Int, of subject: Subject
    ) {
        container?.updateCommentCount(count, of: subject, from: component)
    }
}
