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

    /// Whether it can go on with other settings, as they are applied to its container while it runs.
    ///
    /// Changes nothing. If it can, ``settingsDidChange(from:)`` follows once the change is committed; screens, state and
    /// what waits stay. If it can't, it is made anew with them, as after a restart. It isn't asked, and made anew, where
    /// a setting is secret or names a path, or the container's fields or delegate change, too.
    ///
    /// - Parameter settings: the other settings, checked against ``settings``, defaults filled in.
    /// - Returns: whether it can.
    func canTake(_ settings: Settings) -> Bool
    /// Called once `settings` of its context are the other ones; no command is under way.
    ///
    /// It then has to be what one is that is made with these settings and restored from its records: it reports each
    /// item, tally and count that is another one now. What it takes (`facts`), observes and preselects is read again.
    ///
    /// - Parameter before: the settings that it had.
    func settingsDidChange(from before: Settings)

    /// Looks at its source again: somebody asked for it.
    ///
    /// Called once it is attached, at most once a second, however often a moderator asks by `Containers.Reload`, or the
    /// container's delegate by ``ContainerHandle/reload(_:)`` or by publishing `reload`: nobody else can post the
    /// notification `<container>.reload`.
    func reload()
    /// So many screens show it by now, where that changed; before the first call, none does.
    ///
    /// Called at most once a second. A screen whose connection is lost counts until it is closed. Who
    /// asks a source again and again does so while this is not 0.
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
    /// False: it is made anew.
    public func canTake(_ settings: Settings) -> Bool { false }
    /// Does nothing.
    public func settingsDidChange(from before: Settings) {}
    /// Does nothing.
    public func reload() {}
    /// Does nothing.
    public func didChangeAudience(_ screens: Int) {}
}
