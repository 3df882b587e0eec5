import ArgumentParser
import Interfaces

struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List the comments that wait for a moderator.",
        discussion: """
            Oldest first, for moderators. 'atriumctl moderate CONTAINER COMMENT shown' approves one, \
            'removed --reason TEXT' takes one away and shows its author why.
            """,
        examples: "atriumctl pending films")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var page: LimitOption

    @OptionGroup var which: ComponentOption

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Comments.Pending.Parameters(
            container: container, component: which.component)
        var waiting: [Comments.Pending.Reply.Comments] = []
        var total = 0
        try await session.pages(
            Comments.Pending.self, parameters, cursor: \.cursor, limit: \.limit, most: page.limit
        ) { reply in
            waiting += reply.comments
            total = reply.total
            return (reply.comments.count, reply.next)
        }
        guard !session.printsJSON else { return }
        let wait = total == 1 ? "waits" : "wait"
        Output.line(
            Style.bold("\(Wording.count(total, "comment")) \(wait) for a moderator")
                + " in \(PrintableText.line(container))")
        let tree = CommentTree(width: Terminal.width, color: Terminal.hasColor)
        for entry in waiting {
            let place = entry.item.map { "\(container)/\($0)" } ?? container
            Output.line(PrintableText.line("on \(place)"))
            var comment = entry.comment
            comment.depth = 0
            for line in tree.lines([comment]) { Output.line(line) }
        }
    }
}
