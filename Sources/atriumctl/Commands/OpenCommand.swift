import ArgumentParser
import Interfaces
import JSONCodec

struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a screen on a container, live, until q or Ctrl-C.",
        discussion: """
            On a terminal it is a full-screen program. Arrows or hjkl move, / searches while you type, f filters \
            (and / in there searches values), s sorts, tab goes to the next scope, p to the next \
            container within this one. Enter goes into an \
            item, or shows what is said of it, or fetches more replies; t goes there and back, space \
            folds replies. A digit votes, v asks for a value, u takes the vote back; o chooses an item, \
            so that the container is notified. c comments, r replies, e edits, m deletes or moderates a comment. w hides and \
            shows components, i shows ids, ? lists the keys, q quits. The mouse works, too.

            Into a pipe, or where TERM is dumb, go the screen as it is, then a line for each change; \
            with --json each revision is a line. 'atriumctl screen' works it from another terminal, \
            by the id that it shows. NO_COLOR is respected.

            When the connection is lost it is resumed by itself, from the revision that was seen \
            last; a screen that is gone starts anew, and says why.
            """,
        examples: "atriumctl open films", "atriumctl open films --filter genre=drama >changes")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var query: QueryOptions
    @OptionGroup var order: SortOptions

    @Option(
        help: ArgumentHelp(
            "In this scope of the container; by default the first.", valueName: "name"),
        completion: .scopes)
    var scope: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum number of items of a list, 1 to 1000.", valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "The person to act for, for front ends: NAMESPACE:NAME.", valueName: "actor"))
    var actor: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard limit.map({ (1...LimitOption.pageLength).contains($0) }) ?? true else {
            throw ValidationError("--limit is from 1 to \(LimitOption.pageLength) on a screen.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        if isFullScreen {
            return try await OpenProgram.run(
                session, connection: connection, parameters: parameters)
        }
        let printer = ScreenPrinter(
            container: container, style: session.printsJSON ? .json : .lines)
        if !session.printsJSON {
            let reply = try await session.describe(container)
            printer.fields = reply.fields
            printer.outlines = try await session.outlines(of: reply.container)
        }
        var live = LiveScreen(connection: connection, parameters: parameters)
        try await live.follow(session, handle: printer.handle) { parameters in
            // As it was left, not as it was opened.
            parameters.filters = printer.model.selection
            parameters.scope = printer.model.scope
        }
    }

    /// Whether input and output are a terminal that can show the full-screen program.
    private var isFullScreen: Bool {
        !connection.json && Terminal.canRedraw && Terminal.isInputTerminal && Curses.knowsTerminal
    }

    private var parameters: Screens.Open.Parameters {
        .init(
            container: container, scope: scope, filters: query.selection, search: query.search,
            sort: order.fields, limit: limit, actor: actor)
    }
}

/// Shows a screen on standard output as it goes on.
final class ScreenPrinter {
    /// How it shows it.
    enum Style {
        /// Prints each revision as it was received.
        case json
        /// The snapshot, then a line for each change.
        case lines
    }

    private(set) var model = ScreenModel()
    /// The fields of its items, and what is known of the container and of those within it, for lines.
    var fields: [Field] = []
    var outlines: ContainerOutlines = [:]
    private let container: String
    private let style: Style
    private var isResuming = false

    init(container: String, style: Style) {
        (self.container, self.style) = (container, style)
    }

    /// Prints what happens with the screen.
    func handle(_ event: LiveScreen.Event) throws {
        switch event {
        case .lost(let failure):
            isResuming = true
            let reason =
                failure.status == .unreachable ? "lost the connection" : failure.sentence
            warn("\(reason); trying again")
        case .revision(let reply, let object):
            let before = model
            let changes = try model.apply(reply)
            if let reset = reply.reset {
                warn("started anew: \(reset)")
            } else if isResuming {
                warn("connected again")
            }
            isResuming = false
            switch style {
            case .json: Output.rawLine(object.bytes)
            case .lines where reply.base == nil:
                write(
                    ScreenView(container: container, fields: fields, outlines: outlines)
                        .lines(model)
                        + ScreenChangeText.words(of: reply).map { PrintableText.line($0) })
            case .lines:
                write(
                    ScreenChangeText(fields: fields, container: container, outlines: outlines)
                        .lines(reply, changes: changes, before: before))
            }
        }
    }

    /// Says what happens to the connection, beside what is printed.
    private func warn(_ text: String) {
        Output.note("atriumctl: \(PrintableText.line(text))")
    }

    private func write(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        Output.bytes(Array((lines.joined(separator: "\n") + "\n").utf8))
    }
}
