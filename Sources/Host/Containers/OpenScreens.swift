import AtriumKit

/// The screens that are open on a container, as it sees them: it notifies them of changes, and they update.
protocol OpenScreens: AnyObject {
    /// Whether they show all changes that they were notified of.
    var isIdle: Bool { get }

    /// Whether a screen is inside an item, or has its focus on it.
    func isInUse(_ item: String) -> Bool
    /// Items were removed that no list may have had: screens leave them.
    func itemsRemoved(_ items: Set<String>)
    /// Something that they show has changed; they update before anything is sent.
    func changed()
    /// The components, their order or their state have changed.
    func structureChanged()
    /// A commit is in the indexes, and the delegate was called.
    ///
    /// If several commits come at once, screens update after the last.
    func committed()
    /// The votes or comments on a subject have changed.
    func subjectChanged(_ subject: Subject)
    /// Items of a list have changed; screens that have their focus on one read its details again.
    func itemsChanged(_ items: some Sequence<String>)
    /// Comments are gone, and their component is not there to report it.
    func commentsGone(_ comments: Set<String>, of component: String)
    /// A component was attached that does not know the number of screens yet.
    func countAudience()
    /// An actor's ballot on a subject has changed to this value.
    func ballotChanged(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot)
    /// Ballots have changed other than by votes.
    func ballotsChanged()
    /// The scopes of the container have changed.
    func scopesChanged()
    /// The containers that are parts, or what is shown of them, may have changed.
    func partsChanged(hadParts: Bool)
    /// A filters component has selected something on screens by itself.
    func selected(_ events: [ComponentEvent], by slot: Slot)
    /// Calls the delegates of containers that have this one as a part, with events of a component.
    func notifyParents(of events: [ComponentEvent], from component: ComponentReference)
    /// The title of a container that is a part; nil if it does not exist.
    func title(ofPart part: ComponentDefinition) -> String?
    /// The ids of the sections of a container that is a part; nil: they are not known, or it does not exist.
    func sections(ofPart part: ComponentDefinition) -> [String]?

    // MARK: Calls of the delegate, which refers to screens by id

    /// The choices on a screen; nil: there is no such screen.
    func choices(of screen: String) -> ScreenChoices?
    /// Changes the choices on a screen, on behalf of its delegate.
    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void)
    /// Sends a message with a screen's next revision.
    func message(_ text: String, on screen: String)
    /// Has a screen's client open another container, with the screen's next revision.
    func navigate(_ screen: String, to container: String, item: String?)
}
