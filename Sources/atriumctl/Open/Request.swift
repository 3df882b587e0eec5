import Interfaces

/// What is asked of the daemon for a person at the terminal.
enum Request: Equatable, Sendable {
    case select(section: String, filter: String)
    case deselect(section: String, filter: String)
    case clear
    case search(String)
    case sort([String])
    case scope(String)
    case enter(item: String)
    case back
    case focus(String?)
    case setHidden(component: String, Bool)
    case activate(item: String)
    case resize(component: String, Int)
    /// The filters of a section whose titles contain a text, also those that it does not list.
    case find(FoundFilters.Question)
    /// What lies behind the window of a list, from a cursor on.
    case page(Tail.Query, cursor: String?)
    case vote(Subject, Double)
    case unvote(Subject)
    case post(Subject, parent: String?, text: String)
    case edit(component: String, comment: String, text: String)
    case delete(component: String, comment: String)
    /// The comments that wait for a moderator.
    case queue(component: String)
    case moderate(
        component: String, comment: String, Comments.Moderate.Parameters.State, reason: String?)

    /// What is voted or commented on, and the component that takes it.
    struct Subject: Equatable, Sendable {
        var component: String
        /// Nil: the container.
        var item: String?
        /// What people call it.
        var title: String
    }

    /// Whether a later request of the same kind makes this one needless.
    func isReplaced(by later: Request) -> Bool {
        switch (self, later) {
        case (.search, .search): true
        case (.find(let question), .find(let other)): question.section == other.section
        case (.page(let query, _), .page(let other, _)): query.component == other.component
        case (.resize(let component, _), .resize(let other, _)): component == other
        default: false
        }
    }
}

/// What is to be done because of what happened.
enum Effect: Equatable {
    case call(Request)
    /// Another container, perhaps focused on an item of it.
    case go(container: String, item: String?)
    /// Draws all of the terminal anew, whatever it shows.
    case redraw
    case quit
}
