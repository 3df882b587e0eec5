import ArgumentParser
import Interfaces

struct ThreadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thread", abstract: "Show the comments on an item, or on the container.",
        examples: "atriumctl thread films/alien-1979 --newest")

    @Argument(
        help: ArgumentHelp(
            "The container or item with the comments.", valueName: "container[/item]"),
        completion: .targets, transform: Target.parse)
    var target: Target

    @Option(help: ArgumentHelp("Only replies below this comment.", valueName: "comment"))
    var root: String?

    @Flag(help: "Newest first.")
    var newest = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum depth; 0: no replies.", valueName: "n"))
    var depth: Int?

    @OptionGroup var page: LimitOption

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard depth ?? 0 >= 0 else { throw ValidationError("--depth is a number from 0.") }
    }

    func run() async throws {
        let session = try await connection.connect()
        var comments: [Comment] = []
        var held: [Comment] = []
        var total = 0
        try await session.pages(
            Comments.Thread.self, parameters, cursor: \.cursor, limit: \.limit, most: page.limit
        ) { reply in
            comments += reply.comments
            held += reply.held ?? []
            total = reply.total
            return (reply.comments.count, reply.next)
        }
        guard !session.printsJSON else { return }
        let count = Style.bold(Wording.count(total, "comment"))
        Output.line("\(count) on \(PrintableText.line(target.description))")
        let tree = CommentTree(width: Terminal.width, color: Terminal.hasColor)
        let (filled, own) = comments.filled(with: held)
        let isAlone = comments.isEmpty && !held.contains { $0.parent == root }
        if let root, isAlone, depth != 0 {
            let found = try await find(root, session)
            for line in found.map({ tree.lines([$0]) }) ?? [] { Output.line(line) }
            let note = "no replies to \(PrintableText.line(root))"
            Output.note(found == nil ? "\(note), which is not shown" : note)
        } else {
            for line in tree.lines(filled) + tree.held(own) { Output.line(line) }
        }
        let about = try await session.describe(target.container)
        let facts = about.container.components.lazy.compactMap(\.comments)
        if let closed = FactsText.closed(nil, facts.first { $0.closed == true }) {
            Output.note(PrintableText.line("\(target.container) is \(closed)"))
        }
    }

    /// Reads the thread up to a comment; nil: it is not shown there.
    private func find(_ id: String, _ session: Session) async throws -> Comment? {
        var parameters = parameters
        (parameters.root, parameters.depth) = (nil, nil)
        parameters.limit = LimitOption.pageLength
        repeat {
            let reply = try await session.call(Comments.Thread.self, parameters)
            let found = reply.comments.filled(with: reply.held ?? [])
            if let comment = (found.comments + found.rest).first(where: { $0.id == id }) {
                return comment
            }
            parameters.cursor = reply.next
        } while parameters.cursor != nil
        return nil
    }

    private var parameters: Comments.Thread.Parameters {
        .init(
            container: target.container, item: target.item, component: subject.component,
            root: root, order: newest ? .newest : nil, depth: depth,
            actor: subject.actor)
    }
}
