/// Whether what a list shows is all there is to show.
public enum ListState: Sendable, Hashable {
    /// It is.
    case ready
    /// Its component does not know its items yet.
    case loading
    /// Its source was asked, and has not answered: it shows what was answered before.
    case asking
    /// Its source did not answer, and is asked again: it shows what was answered before.
    case stale(problem: String)
}
