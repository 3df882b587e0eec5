import AtriumKit
import Index

/// What a slot knows of its container: when it may ask its component, and who takes in what the component tells.
protocol SlotOwner: AnyObject {
    var name: String { get }
    var domain: Domain { get }
    var meters: ContainerMeters { get }

    // MARK: When requests are sent

    /// Whether commands wait until it is known what screens of another process show.
    var holdsCommands: Bool { get }
    /// Whether requests wait, although the component could take them.
    func isGated(_ component: String) -> Bool
    /// Whether the component's own state is the committed one.
    func isQuiet(_ component: String) -> Bool
    /// The operation of a component that has been on its way the longest; nil: none is.
    func oldestOperation(of component: String) -> UInt64?
    /// Forgets operations whose component was lost.
    func cancel(_ operations: [UInt64])
    /// Lets those go on who wait for components that are quiet by now.
    func passBarriers()
    /// The slot of this name now.
    func slot(_ name: String) -> Slot?

    // MARK: What becomes of the component

    /// A start has come to an end, or to a standstill.
    func startsChanged()
    /// Its component's state is another.
    func structureChanged()
    /// Makes a loaded component part of the container.
    func takeIn(_ slot: Slot, then done: @escaping () -> Void)
    /// Delivers some of what a component told outside of any command.
    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot)
    /// Items of a list changed without anybody's call, and are in it.
    func itemsChanged(in slot: Slot)
    /// Has a source's answered items shown, as the delegate would have it.
    func show(_ change: ContentChange, from slot: Slot)
    /// Whether a screen stands in an item, or is focused on it.
    func isInUse(_ item: String) -> Bool
    /// A source says that these are gone, whether or not it was asked for them.
    func areGone(_ items: Set<String>)
    /// A list has other items.
    func listsChanged()
    /// Posts a transient notification under the container's name.
    func post(_ topic: String, _ payload: [UInt8])

    // MARK: Lists

    /// Gives a new list the derived fields, in slices; it follows each change from now on.
    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void)
    /// Drops a list that was filled and not taken in.
    func forget(_ list: ContentIndex)
}
