import ArgumentParser
import Interfaces

struct FiltersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filters",
        abstract: "List a container's filters, with the number of items each would show.",
        discussion: """
            A section's own selection does not reduce its counts. Of a section with many filters those \
            are listed that most items have, and those that are selected; with --section all of them, \
            page by page.
            """,
        examples: "atriumctl filters films --filter genre=drama",
        "atriumctl filters films --section genre --find west")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var query: QueryOptions

    @OptionGroup var which: ComponentOption

    @Option(
        help: ArgumentHelp(
            "Count the first list of this scope; by default the container's.", valueName: "name"),
        completion: .scopes)
    var scope: String?

    @Option(
        help: ArgumentHelp("Only this section, with all its filters.", valueName: "section"))
    var section: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only filters of the section whose title contains this text, without regard to case and "
                + "accents.", valueName: "text"))
    var find: String?

    @Option(help: ArgumentHelp("Continue after a page of the section.", valueName: "cursor"))
    var cursor: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard section != nil || find == nil && cursor == nil else {
            throw ValidationError(
                "--find and --cursor look into one section: name it with --section.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Interfaces.Filters.List.Parameters(
            container: container, component: which.component, filters: query.selection,
            search: query.search, scope: scope, section: section, text: find, cursor: cursor)
        guard let reply = try await session.answer(Interfaces.Filters.List.self, parameters)
        else { return }
        SectionTable(reply.sections).table.show()
        Output.note("\(Wording.count(reply.total, "item")) in all")
        if let next = reply.next { Output.note("more with --cursor \(next)") }
    }
}

/// Sections as a table: a row for each filter, the selected ones marked.
struct SectionTable {
    private(set) var table = Table([
        .text("section"), .text("filter"), .number("items"), .text("title"),
        .text("selected"),
    ])

    init(_ sections: [Section]) {
        for section in sections {
            if section.filters.isEmpty {
                table.add([section.id, Self.placeholder(section.input), "", section.title, ""])
            }
            for (index, filter) in section.filters.enumerated() {
                table.add([
                    index == 0 ? section.id : "", filter.id, Self.count(filter.count),
                    filter.title == filter.id ? "" : filter.title, filter.selected ? "*" : "",
                ])
            }
            if section.more == true { table.add(["", Self.more(section), "", "", ""]) }
        }
    }

    /// How many items a filter shows; empty where nobody counts them, as where there is no list.
    static func count(_ count: Int?) -> String { count.map { Wording.count($0) } ?? "" }

    /// `… 450 more`.
    static func more(_ section: Section) -> String {
        section.rest.map { "… \(Wording.count($0)) more" } ?? "… more"
    }

    /// What a person writes where no filters are on offer.
    static func placeholder(_ input: Section.Input) -> String {
        switch input {
        case .range: "FROM..TO"
        case .text: "TEXT"
        case .single, .several: "(none)"
        }
    }
}
