/// One child of a container, made by a plugin: a black box that does not know its parent.
///
/// Its life, in order:
/// 1. ``init(context:)`` with all that it needs; a setting that makes no sense throws.
/// 2. ``apply(_:)`` for every record that the store holds, in any order, its delegate silent.
/// 3. ``willAttach()``, ``didAttach()``: it is now part of its container.
/// 4. Commands, reads and ``apply(_:)``, one at a time, always on the one serial domain.
/// 5. ``willDetach()``, ``didDetach()``; then it is released. Its records stay in the store.
///
/// Decide, then apply: a command is answered with changes, or refused, without touching state; the
/// host then calls ``apply(_:)`` with those changes, ahead of the commit. When the commit fails the
/// host calls it again with what the store still holds. State changes nowhere else.
public protocol Component: AnyObject, SendableMetatype {
    /// The options it understands. Anything else in its settings is refused before `init`.
    static var settings: [Setting] { get }

    /// Makes the component.
    ///
    /// - Parameter context: its name, its settings, checked against ``settings``, and what it may
    ///   ask of the host; keep it.
    /// - Throws: ``SettingError`` for a setting whose value makes no sense, naming it.
    init(context: ComponentContext) throws

    /// Called before the container takes it in.
    func willAttach()
    /// Called once it is part of the container.
    func didAttach()
    /// Called before the container lets it go.
    func willDetach()
    /// Called once it is no longer part of the container.
    func didDetach()

    /// Makes its state what it is with this change. Never fails: a record that it cannot read it
    /// logs and skips.
    func apply(_ change: Change)

    /// Returns whether the component can adopt new settings while it runs.
    ///
    /// Must not change state. If true, ``settingsDidChange(from:)`` follows once the change is committed; screens,
    /// state and waiting calls stay. If false, the host makes a new component with these settings from the records, as
    /// after a restart. Not called, and a new component made, if it has a secret setting, changed or not, or if a path
    /// setting, the container's fields or its delegate change too.
    ///
    /// - Parameter settings: the new settings, checked against ``settings``, defaults filled in.
    /// - Returns: whether it can adopt them.
    func canTake(_ settings: Settings) -> Bool
    /// Called after `settings` of the component's context changed; no command is in progress.
    ///
    /// Afterwards the component must be in the state of a new one that was made with these settings and restored from
    /// the same records. It reports every item, tally and count that changed. The host reads what it accepts (`facts`),
    /// observes and preselects again.
    ///
    /// - Parameter before: the previous settings.
    func settingsDidChange(from before: Settings)

    /// Reads the source again, on request.
    ///
    /// Called once it is attached, at most once a second, however often a moderator asks by `Containers.Reload`, or the
    /// container's delegate by ``ContainerHandle/reload(_:)`` or by publishing `reload`: nobody else can post the
    /// notification `<container>.reload`.
    func reload()
    /// Receives the number of screens that show the component, whenever it changed; before the first call it is 0.
    ///
    /// Called at most once a second. A screen whose connection is lost counts until it is closed. A component that
    /// polls its source does so only while this is greater than 0.
    func didChangeAudience(_ screens: Int)
}

extension Component {
    /// No settings.
    public static var settings: [Setting] { [] }
    /// Does nothing.
    public func willAttach() {}
    /// Does nothing.
    public func didAttach() {}
    /// Does nothing.
    public func willDetach() {}
    /// Does nothing.
    public func didDetach() {}
    /// Returns false: the host makes a new component.
    public func canTake(_ settings: Settings) -> Bool { false }
    /// Does nothing.
    public func settingsDidChange(from before: Settings) {}
    /// Does nothing.
    public func reload() {}
    /// Does nothing.
    public func didChangeAudience(_ screens: Int) {}
}
