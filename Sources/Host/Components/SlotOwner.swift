import AtriumKit
import Index

/// The container as its slots see it: it says when they may send requests, and handles their components' reports.
protocol SlotOwner: AnyObject {
    var name: String { get }
    var domain: Domain { get }
    var meters: ContainerMeters { get }

    // MARK: When requests are sent

    /// Whether commands wait until restored screens are compared.
    var holdsCommands: Bool { get }
    /// Whether requests have to wait although the component could take them.
    func isGated(_ component: String) -> Bool
    /// Whether a request comes before all work that needs the component for itself, and none is running.
    func mayPassGate(of component: String, _ request: Request) -> Bool
    /// Whether the component's own state is the committed one.
    func isQuiet(_ component: String) -> Bool
    /// Why the component's own state can't become the committed one for now; nil if it is, or can.
    func undoFailure(of component: String) -> HostError?
    /// The oldest operation of a component that is under way; nil: there is none.
    func oldestOperation(of component: String) -> UInt64?
    /// Cancels operations whose component was lost.
    func cancel(_ operations: [UInt64])
    /// Sends what can be sent to all components, and runs the work that waits for them to be quiet.
    func pump()
    /// Runs the work that waits for components to be quiet, where they are now.
    func runBarriers()
    /// The slot that has this name now.
    func slot(_ name: String) -> Slot?

    // MARK: Changes of the component

    /// A start has ended or stalled.
    func startsChanged()
    /// The state of a component has changed.
    func structureChanged()
    /// Makes a loaded component part of the container.
    func attach(_ slot: Slot, then done: @escaping () -> Void)
    /// Delivers events that a component reported without a command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot)
    /// Items of a list have changed, other than by a call; the list has the new ones.
    func itemsChanged(in slot: Slot)
    /// Shows the items that a source has answered, after the delegate.
    func show(_ change: ContentChange, from slot: Slot)
    /// Whether a screen is inside an item, or has its focus on it.
    func isInUse(_ item: String) -> Bool
    /// A source reported that these items are gone, whether or not it was asked for them.
    func itemsRemoved(_ items: Set<String>)
    /// The items of a list have changed.
    func listsChanged()
    /// Posts a transient notification under the container's name; moderators alone receive the restricted part.
    func post(_ topic: String, _ payload: [UInt8], restricted: [UInt8]?)

    // MARK: Lists

    /// The item with an id, from the list that calls find it in.
    func item(_ id: String) -> Item?

    /// Fills in the derived fields of a new list, in slices; from now on they are kept up to date.
    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void)
    /// Drops a list that was filled but not shown.
    func drop(_ list: ContentIndex)
}
