// What a screen and its parts have in common, by the names of the screen's.
extension Screens.Open.Reply {
    /// A component.
    public typealias Components = ShownComponent
    /// A scope.
    public typealias Scopes = ShownScope
    /// The counts of a section.
    public typealias Counts = ShownCounts
    /// What became of a list.
    public typealias Lists = ShownList
}
