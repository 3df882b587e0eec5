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
    case find(FilterLookup.Question)
    /// What lies behind the window of a list, from a cursor on; nil: from as many entries on.
    case page(Tail.Query, cursor: String?, behind: Int)
    /// What a container's description has and a screen does not.
    case describe(container: String)
    case vote(Subject, Double)
    case unvote(Subject)
    /// The id is ours, so that the same comment sent twice is there once.
    case post(Subject, parent: String?, text: String, id: String)
    case edit(component: String, comment: String, text: String)
    case delete(component: String, comment: String)
    /// The comments that wait for a moderator.
    case queue(component: String)
    /// By a moderator who saw the text that was written then; nil: it is not compared.
    case moderate(
        component: String, comment: String, Comments.Moderate.Parameters.State, reason: String?,
        seen: String?)

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
        case (.page(let query, _, _), .page(let other, _, _)): query.component == other.component
        case (.describe(let container), .describe(let other)): container == other
        case (.resize(let component, _), .resize(let other, _)): component == other
        default: false
        }
    }
}

/// What is to be done because of what happened.
enum Effect: Equatable {
    /// A call about a part of the screen; nil: about the one that takes the keys.
    case call(Request, part: String? = nil)
    /// Another container, perhaps focused on an item of it.
    case go(container: String, item: String?)
    /// Draws all of the terminal anew, whatever it shows.
    case redraw
    case quit
}
