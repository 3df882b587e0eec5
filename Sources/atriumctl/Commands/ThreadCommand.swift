import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl thread CONTAINER[/ITEM]`.
struct ThreadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thread", abstract: "Show the comments on an item, or on the container."
    )
    .examples("atriumctl thread films/alien-1979 --newest")

    @Argument(help: ArgumentHelp("What the comments are about.", valueName: "container[/item]"))
    var target: Target

    @Option(help: ArgumentHelp("Only what is below this comment.", valueName: "comment"))
    var root: String?

    @Flag(help: "Newest first.")
    var newest = false

    @Option(help: ArgumentHelp("How deep; 0: no replies.", valueName: "n"))
    var depth: Int?

    @Option(help: ArgumentHelp("At most so many comments; by default all.", valueName: "n"))
    var limit: Int?

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        var parameters = parameters
        var comments: [Comment] = []
        var held: [Comment] = []
        var total = 0
        repeat {
            let object = try await session.call(
                raw: Comments.Thread.name, JSONObject(writing: parameters) ?? .empty)
            if session.printsJSON { Output.rawLine(object.bytes) }
            let reply = try session.decode(Comments.Thread.self, object)
            comments += reply.comments
            held += reply.held ?? []
            total = reply.total
            parameters.cursor = reply.next
        } while limit == nil && parameters.cursor != nil
        guard !session.printsJSON else { return }
        let count = Style.bold(Wording.count(total, "comment"))
        Output.line("\(count) on \(PrintableText.line(target.description))")
        let tree = CommentTree(width: Terminal.width, color: Terminal.hasColor)
        let (filled, own) = comments.filled(with: held)
        for line in tree.lines(filled) + tree.held(own) { Output.line(line) }
    }

    private var parameters: Comments.Thread.Parameters {
        .init(
            container: target.container, item: target.item, component: subject.component,
            root: root, order: newest ? .newest : nil, depth: depth, limit: limit,
            actor: subject.actor)
    }
}
