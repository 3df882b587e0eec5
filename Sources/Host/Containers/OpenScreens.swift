import AtriumKit

/// What a container knows of the screens that are open on it: it says what changed, and they follow.
protocol OpenScreens: AnyObject {
    /// Whether they show all that they were told of.
    var isIdle: Bool { get }

    /// Whether one of them stands in an item, or is focused on it.
    func holds(_ item: String) -> Bool
    /// Items were taken away that no list may have had: who stands in one of them, or is focused on it, leaves.
    func areGone(_ items: Set<String>)
    /// Something that they show changed; they follow before anything leaves the loop.
    func changed()
    /// Components, their order or their state changed.
    func structureChanged()
    /// A commit is in the indexes, and the delegate was told: they follow, of several commits that came at once
    /// with the last.
    func committed()
    /// What is said about a subject changed.
    func subjectChanged(_ subject: Subject)
    /// Items of a list are others: who is focused on one follows its details.
    func itemsChanged(_ items: some Sequence<String>)
    /// Comments are gone whose component is not there to say so.
    func commentsGone(_ comments: Set<String>, of component: String)
    /// A component is there that was told of no screens.
    func countAudience()
    /// Somebody's ballot is now this.
    func noteBallot(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot)
    /// Ballots changed otherwise than by votes.
    func forgetBallots()
    /// The container has other scopes.
    func scopesChanged()
    /// The containers among the components, or what is told of them, may be others.
    func partsChanged(hadParts: Bool)
    /// Components of the container reported something: the delegates of those whose part it is are called.
    func tellParents(of events: [ComponentEvent], from component: ComponentReference)
    /// What people read of a container among the components; nil: it is not there.
    func title(ofPart part: ComponentDefinition) -> String?
    /// The container is gone: none shows anything more.
    func end()

    /// A filters component selected something on a screen though nobody asked it to, which is shown next: what its
    /// delegate says about it waits for that.
    func holdNotice(for event: ComponentEvent)
    /// Shows what a filters component selected on a screen though nobody asked it to.
    func showUnasked(_ event: ComponentEvent)
    /// The delegate of the scope that a screen shows; nil: there is no such screen.
    ///
    /// - Returns: fails while it can't be made.
    func delegate(on screen: String) -> Result<ContainerDelegate, HostError>?
    /// What is chosen on a screen; nil: there is no such screen.
    func choices(of screen: String) -> ScreenChoices?
    /// Changes what is chosen on a screen as its delegate has it.
    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void)
    /// Sends a message with a screen's next revision.
    func message(_ text: String, on screen: String)
    /// Leads who has a screen to another container, with its next revision.
    func lead(_ screen: String, to container: String, item: String?)
}
