import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl pending CONTAINER`.
struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "List the comments that wait for a moderator.",
        discussion: """
            Oldest first, for moderators. 'atriumctl moderate CONTAINER COMMENT shown' approves one, \
            'removed --reason TEXT' takes one away and tells its author why.
            """
    )
    .examples("atriumctl pending films")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Option(help: ArgumentHelp("At most so many comments; by default all.", valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp("Which component; by default the first.", valueName: "name"),
        completion: .components)
    var component: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        var parameters = Comments.Pending.Parameters(
            container: container, component: component, limit: limit)
        var waiting: [Comments.Pending.Reply.Comments] = []
        var total = 0
        repeat {
            let object = try await session.call(
                raw: Comments.Pending.name, JSONObject(writing: parameters) ?? .empty)
            if session.printsJSON { Output.rawLine(object.bytes) }
            let reply = try session.decode(Comments.Pending.self, object)
            waiting += reply.comments
            total = reply.total
            parameters.cursor = reply.next
        } while limit == nil && parameters.cursor != nil
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
