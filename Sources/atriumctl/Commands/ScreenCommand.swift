import ArgumentParser
import Interfaces
import Varlink

/// The command `atriumctl screen …`: each method of an open screen.
struct ScreenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Change an open screen: filter, search, sort, enter, focus.",
        discussion: """
            'atriumctl open' shows a screen's id. Any connection of the same user may work it; what \
            changes is shown where it is open.
            """,
        subcommands: [
            ScreenSelectCommand.self, ScreenDeselectCommand.self, ScreenClearCommand.self,
            ScreenSearchCommand.self, ScreenSortCommand.self, ScreenResizeCommand.self,
            ScreenScopeCommand.self, ScreenEnterCommand.self, ScreenBackCommand.self,
            ScreenFocusCommand.self, ScreenHideCommand.self, ScreenShowCommand.self,
            ScreenActivateCommand.self,
        ],
        examples: "atriumctl screen select d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j genre=drama")
}

/// Which screen, and how to reach it.
struct ScreenOptions: ParsableArguments {
    @Argument(
        help: "The screen's id, as 'atriumctl open' shows it.", completion: .nothing)
    var screen: String

    @Option(
        help: ArgumentHelp(
            "The part to change: its component's name, after those around it.",
            valueName: "name[/name]"),
        completion: .nothing)
    var part: String?

    @OptionGroup var connection: ConnectionOptions

    /// Calls a method that answers with the revision that shows what it did.
    func work<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        revision: (Method.Reply) -> Int
    ) async throws {
        try await connection.connect().report(method, parameters) { "revision \(revision($0))" }
    }
}

// MARK: - What narrows a list, and its order

struct ScreenSelectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "select", abstract: "Select a filter.",
        examples: "atriumctl screen select d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j genre=drama")

    @OptionGroup var options: ScreenOptions

    @Argument(
        help: ArgumentHelp(
            "The filter; of a section of ranges FROM..TO, of one of texts the text.",
            valueName: "section=filter"),
        transform: FilterChoice.parse)
    var filter: FilterChoice

    func run() async throws {
        try await options.work(
            Screens.Select.self,
            .init(
                screen: options.screen, section: filter.section, filter: filter.filter,
                part: options.part)
        ) { $0.revision }
    }
}

struct ScreenDeselectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deselect", abstract: "Deselect a filter.",
        examples: "atriumctl screen deselect d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j genre=drama")

    @OptionGroup var options: ScreenOptions

    @Argument(
        help: ArgumentHelp("The filter.", valueName: "section=filter"),
        transform: FilterChoice.parse)
    var filter: FilterChoice

    func run() async throws {
        try await options.work(
            Screens.Deselect.self,
            .init(
                screen: options.screen, section: filter.section, filter: filter.filter,
                part: options.part)
        ) { $0.revision }
    }
}

struct ScreenClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Deselect all filters.",
        examples: "atriumctl screen clear d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j")

    @OptionGroup var options: ScreenOptions

    func run() async throws {
        try await options.work(
            Screens.Clear.self, .init(screen: options.screen, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenSearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Show only items that contain a text.",
        examples: "atriumctl screen search d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j alien")

    @OptionGroup var options: ScreenOptions

    @Argument(help: "The text, without regard to case and accents; empty: all items.")
    var text: String = ""

    func run() async throws {
        try await options.work(
            Screens.Search.self, .init(screen: options.screen, text: text, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenSortCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sort", abstract: "Sort by fields.",
        examples: "atriumctl screen sort d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j -rating")

    @OptionGroup var options: ScreenOptions

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "The fields, '-' before one for descending; also votes.score, votes.count and "
                + "comments.count. None: by id.", valueName: "[-]field"))
    var fields: [String] = []

    func validate() throws {
        let words = fields.prefix { $0 != "--" }
        if let option = words.first(where: { $0.hasPrefix("--") }) {
            throw ValidationError("Unknown option '\(option)'")
        }
    }

    func run() async throws {
        var fields = fields
        // Behind it all are fields; it is none itself.
        if let end = fields.firstIndex(of: "--") { fields.remove(at: end) }
        fields = fields.flatMap { $0.split(separator: ",").map(String.init) }
        try await options.work(
            Screens.Sort.self, .init(screen: options.screen, sort: fields, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenResizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resize", abstract: "Set how many items of a list are shown.",
        examples: "atriumctl screen resize d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j 50")

    @OptionGroup var options: ScreenOptions

    @Argument(help: "Maximum number of items, 1 to 1000.")
    var limit: Int

    @Option(
        help: ArgumentHelp("Which list; by default all.", valueName: "name"),
        completion: .components)
    var component: String?

    func validate() throws {
        guard (1...LimitOption.pageLength).contains(limit) else {
            throw ValidationError("The number is from 1 to \(LimitOption.pageLength).")
        }
    }

    func run() async throws {
        try await options.work(
            Screens.Resize.self,
            .init(screen: options.screen, component: component, limit: limit, part: options.part)
        ) { $0.revision }
    }
}
