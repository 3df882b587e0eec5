import Interfaces

/// The comments of a container that wait for a moderator, as they were when they were asked for.
struct ModerationQueue: Equatable, Sendable {
    /// A comment, and the item that it is about; nil: the container.
    struct Entry: Equatable, Sendable {
        var comment: Comment
        var item: String?
    }

    /// How many are shown; what is decided makes room for others.
    static let most = 100
    /// How many pages are looked through for so many: one may be short, or empty, with more behind it.
    static let mostPages = 10

    var component: String
    var comments: [Entry]
    /// How many wait in all.
    var total: Int

    /// A line for each, with its author and what it is about.
    var choices: [Menu.Choice] {
        comments.map { entry in
            let author = entry.comment.author.map { ActorName.shown($0) } ?? "(nobody)"
            let text = (entry.comment.text ?? "").split(whereSeparator: \.isNewline)
                .joined(separator: " ")
            return .init(
                title: "\(author): \(text)", detail: entry.item ?? "",
                action: .decide(entry.comment))
        }
    }
}

extension Browser {
    /// Asks for what waits for a moderator, for those who may decide.
    mutating func queue() -> [Effect] {
        guard let talk = screen.component("comments") else {
            status.say("nobody comments here")
            return []
        }
        guard mayModerate != false else {
            status.say("moderators see here what waits; t goes to the comments")
            return []
        }
        return [.call(.queue(component: talk.name))]
    }

    /// Shows what waits, unless something else was begun meanwhile.
    mutating func receive(_ queue: ModerationQueue) {
        guard mode == .browse else { return }
        guard !queue.comments.isEmpty else {
            worksQueue = false
            status.say(
                queue.total == 0
                    ? "no comment waits for a moderator"
                    : "what waits (\(Wording.count(queue.total))) is on items that are gone, and comes back with them"
            )
            return
        }
        worksQueue = true
        mode = .menu(Menu(.queue(queue)))
        changeMenu { $0.adjustCursor($1, height: $2) }
    }

    /// The calls for a decision: the decision itself, and one that reads the rest of the queue if the queue is shown.
    func next(after decision: Request) -> [Effect] {
        guard worksQueue, let talk = screen.component("comments") else { return [.call(decision)] }
        return [.call(decision), .call(.queue(component: talk.name))]
    }
}
