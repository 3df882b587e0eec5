public import ArgumentParser
public import Interfaces

struct CommentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comment", abstract: "Comment on an item, or on the container as a whole.",
        examples: #"atriumctl comment films/alien-1979 "In space.""#)

    @Argument(
        help: ArgumentHelp("The container or item to comment on.", valueName: "container[/item]"),
        completion: .targets, transform: Target.parse)
    var target: Target

    @Argument(help: "The text; - reads it from standard input.")
    var text: String

    @Option(
        help: ArgumentHelp(
            "Its id, to repeat the command safely; by default a new one.",
            valueName: "id"))
    var id: String?

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await CommentText.post(text, of: target, subject, id: id, to: connection)
    }
}

struct ReplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reply", abstract: "Reply to a comment.",
        examples: #"atriumctl reply films offer "I know someone who did.""#)

    @Argument(
        help: ArgumentHelp(
            "The container; the item of the comment may be left out.",
            valueName: "container[/item]"), completion: .targets, transform: Target.parse)
    var target: Target

    @Argument(help: "The comment's id, as 'thread' shows it.", completion: .nothing)
    var comment: String

    @Argument(help: "The text; - reads it from standard input.")
    var text: String

    @Option(
        help: ArgumentHelp(
            "The reply's id, to repeat the command safely; by default a new one.",
            valueName: "id"))
    var id: String?

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        try await CommentText.post(
            text, of: target, subject, parent: comment, id: id, to: connection)
    }
}

struct EditCommentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit-comment", abstract: "Change the text of a comment.",
        examples: #"atriumctl edit-comment films offer "An offer that nobody refuses.""#)

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The comment's id.", completion: .nothing)
    var comment: String

    @Argument(help: "The new text; - reads it from standard input.")
    var text: String

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let text = try CommentText.read(text)
        let session = try await connection.connect()
        let parameters = Comments.Edit.Parameters(
            container: container, component: subject.component, comment: comment, text: text,
            actor: subject.actor)
        try await session.report(Comments.Edit.self, parameters) {
            CommentText.done("edited", $0.comment)
        }
    }
}

struct DeleteCommentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-comment", abstract: "Delete a comment; its replies stay.",
        discussion: "Its text is gone for good.",
        examples: "atriumctl delete-comment films offer")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The comment's id.", completion: .nothing)
    var comment: String

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Comments.Delete.Parameters(
            container: container, component: subject.component, comment: comment,
            actor: subject.actor)
        try await session.report(Comments.Delete.self, parameters) { reply in
            reply.unchanged == true ? "\(comment) was removed already" : "deleted \(comment)"
        }
    }
}

struct ModerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "moderate", abstract: "Show, hold or remove a comment (moderators).",
        discussion: """
            'atriumctl pending' lists the comments that wait for a decision.

            A removed comment loses its text, and can't be shown again: a terminal is asked first. One that \
            may come back is 'pending': its author and moderators alone see it.
            """,
        examples: "atriumctl moderate films offer shown",
        "atriumctl moderate films offer removed --reason advertising --yes")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The comment's id.", completion: .nothing)
    var comment: String

    @Argument(help: "shown, pending (held back), or removed (for good).")
    var state: Comments.Moderate.Parameters.State

    @Option(
        help: ArgumentHelp(
            "The reason why it waits or is removed, for its author: at most 500 characters.",
            valueName: "text"))
    var reason: String?

    @Flag(name: .shortAndLong, help: "Remove without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var which: ComponentOption

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard reason == nil || state != .shown else {
            throw ValidationError(
                "--reason is for pending and removed: a shown comment has none.")
        }
    }

    func run() async throws {
        if state == .removed {
            try Question.beforeErasing("the text of '\(comment)' in \(container)", isSure: yes)
        }
        let session = try await connection.connect()
        let parameters = Comments.Moderate.Parameters(
            container: container, component: which.component, comment: comment, state: state,
            reason: reason)
        try await session.report(Comments.Moderate.self, parameters) { reply in
            "\(reply.comment.id) is \(reply.comment.state.rawValue)"
        }
    }
}

extension Comments.Moderate.Parameters.State: ExpressibleByArgument {}

/// The texts that comment commands send and print.
private enum CommentText {
    /// Posts a comment, or a reply to `parent`, and prints its id.
    static func post(
        _ text: String, of target: Target, _ subject: SubjectOptions, parent: String? = nil,
        id: String?, to connection: ConnectionOptions
    ) async throws {
        let text = try read(text)
        let session = try await connection.connect()
        let parameters = Comments.Post.Parameters(
            container: target.container, item: target.item, component: subject.component,
            parent: parent, text: text, id: id, actor: subject.actor)
        try await session.report(Comments.Post.self, parameters) { reply in
            // Of an id that is there already the daemon returns the comment, whatever became of it.
            guard reply.comment.state != .removed else {
                throw CommandFailure(
                    "'\(reply.comment.id)' was deleted or removed: nothing is posted",
                    hint: "leave --id out, or name another.")
            }
            return done("posted", reply.comment)
        }
    }

    /// The text of an argument; `-` reads it from standard input.
    static func read(_ argument: String) throws -> String {
        guard argument == "-" else { return argument }
        var text = try InputFile.text("-")
        while text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    static func done(_ verb: String, _ comment: Comment) -> String {
        let note = comment.state == .pending ? "; it waits for a moderator" : ""
        return "\(verb) \(comment.id)\(note)"
    }
}
