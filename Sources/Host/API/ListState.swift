/// Whether a list shows everything that it should.
public enum ListState: Sendable, Hashable {
    /// It does.
    case ready
    /// Its component does not know its items yet.
    case loading
    /// A request to its source is in progress; the list shows the previous answer.
    case asking
    /// A request to its source failed and will be retried; the list shows the previous answer.
    case stale(problem: String)
}
