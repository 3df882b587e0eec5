import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl open CONTAINER`.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a screen on a container, live, until Ctrl-C.",
        discussion: """
            On a terminal the screen is drawn again in its place whenever it changes; into a pipe go \
            the screen as it is, then a line for each change; with --json each revision is a line. \
            'atriumctl screen' works it from another terminal, by the id that it shows.

            When the connection is lost it is resumed by itself, from the revision that was seen \
            last; a screen that is gone starts anew, and says why.
            """)

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var query: QueryOptions
    @OptionGroup var order: SortOptions

    @Option(
        help: ArgumentHelp(
            "In this scope of the container; by default the first.", valueName: "name"),
        completion: .scopes)
    var scope: String?

    @Option(help: ArgumentHelp("At most so many items of a list.", valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "On whose behalf, for front ends: NAMESPACE:NAME.", valueName: "actor"))
    var actor: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else {
            throw ValidationError("--limit is at least 1.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        let fields =
            session.printsJSON
            ? []
            : try await session.call(
                Containers.Describe.self, .init(container: container)
            ).fields
        let printer = ScreenPrinter(
            container: container, fields: fields,
            style: session.printsJSON ? .json : Terminal.canRedraw ? .drawn : .lines)
        var live = LiveScreen(connection: connection, parameters: parameters)
        try await live.follow(session, take: printer.take) { parameters in
            // As it was left, not as it was opened.
            parameters.filters = printer.model.selection
            parameters.scope = printer.model.scope
        }
    }

    private var parameters: Screens.Open.Parameters {
        // Room for the head, the sections of filters and a few comments.
        let room = Terminal.canRedraw ? Terminal.height.map { max(5, $0 - 12) } : nil
        return .init(
            container: container, scope: scope, filters: query.selection, search: query.search,
            sort: order.fields, limit: limit ?? (connection.json ? nil : room), actor: actor)
    }
}

/// Shows a screen on standard output as it goes on.
final class ScreenPrinter {
    /// How it shows it.
    enum Style {
        /// Each revision as it came.
        case json
        /// The whole screen, drawn over what stood there.
        case drawn
        /// The snapshot, then a line for each change.
        case lines
    }

    private(set) var model = ScreenModel()
    private let container: String
    private let fields: [Field]
    private let style: Style
    private var notice: String?
    private var isResuming = false

    init(container: String, fields: [Field], style: Style) {
        self.container = container
        self.fields = fields
        self.style = style
    }

    /// Takes in what happens with the screen.
    func take(_ event: LiveScreen.Event) throws {
        switch event {
        case .lost(let failure):
            isResuming = true
            let reason =
                failure.status == .unreachable ? "lost the connection" : failure.sentence
            tell("\(reason); trying again")
            if style == .drawn { draw() }
        case .revision(let reply, let object):
            let before = model
            let changes = try model.apply(reply)
            notice = nil
            if let reset = reply.reset {
                tell("started anew: \(reset)")
            } else if isResuming {
                tell("connected again")
            }
            isResuming = false
            if style == .drawn, notice == nil {
                let words = ScreenChangeText.words(of: reply)
                if !words.isEmpty { notice = words.joined(separator: "; ") }
            }
            switch style {
            case .json: Output.rawLine(object.bytes)
            case .drawn: draw()
            case .lines where reply.base == nil:
                write(
                    view().lines(model)
                        + ScreenChangeText.words(of: reply).map { PrintableText.line($0) })
            case .lines:
                write(
                    ScreenChangeText(fields: fields).lines(
                        reply, changes: changes, before: before))
            }
        }
    }

    /// Says what happens to the connection: within the drawn screen, else beside what is printed.
    private func tell(_ text: String) {
        notice = text
        if style != .drawn { Output.note("atriumctl: \(PrintableText.line(text))") }
    }

    private func view(width: Int? = nil, color: Bool = false) -> ScreenView {
        ScreenView(container: container, fields: fields, width: width, color: color)
    }

    /// Draws over what stands there, line by line, so that nothing flickers.
    private func draw() {
        var lines = view(width: Terminal.width, color: Terminal.hasColor)
            .lines(model, notice: notice)
        if let height = Terminal.height { lines = Array(lines.prefix(max(1, height - 1))) }
        let text = lines.map { $0 + "\u{1B}[K\n" }.joined()
        Output.bytes(Array("\u{1B}[H\(text)\u{1B}[J".utf8))
    }

    private func write(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        Output.bytes(Array((lines.joined(separator: "\n") + "\n").utf8))
    }
}
