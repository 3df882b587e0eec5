import ArgumentParser
import Interfaces
import JSONCodec
import Varlink

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a container's items: filtered, searched, sorted.",
        discussion: """
            The list is whole, unless --limit or --cursor asks for a part of it; --cursor alone asks \
            for a page of 1000 items. A terminal shows it through $PAGER, by default less. A table has the \
            columns that the definition presents; csv has all fields but details, and import takes it \
            back; ids has an id a line; json has what the daemon answered, a line for each page.
            """,
        examples: "atriumctl list films --filter genre=drama --sort -rating --limit 3",
        "atriumctl list films --search alien", "atriumctl list films -o csv >films.csv")

    /// In which form a list is printed.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case table
        case json
        case csv
        case ids
    }

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var query: QueryOptions
    @OptionGroup var order: SortOptions

    @Option(
        help: ArgumentHelp(
            "Show only these fields, separated by commas.", valueName: "field,…"))
    var fields: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The output format: table, json, csv or ids; by default table.", valueName: "form"))
    var output: Form?

    @OptionGroup var page: LimitOption

    @Option(
        help: ArgumentHelp(
            "The page with this cursor, the 'next' of the previous page.", valueName: "cursor"))
    var cursor: String?

    @Option(
        help: ArgumentHelp("Only the lists of this scope: its first.", valueName: "name"),
        completion: .scopes)
    var scope: String?

    @Option(
        help: ArgumentHelp(
            "Only the direct children of this item; '' for those at the top.", valueName: "item"),
        completion: .nothing, transform: Target.id)
    var parent: String?

    @Flag(help: "All pages, also with --cursor; --limit is then the length of a page.")
    var all = false

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !connection.json || output ?? .json == .json else {
            throw ValidationError("--json and --output ask for different forms.")
        }
    }

    func run() async throws {
        let form: Form = connection.json ? .json : output ?? .table
        let session = try await connection.connect()
        if form != .json { Pager.start() }
        var printer = ListPrinter(form: form, fields: chosenFields)
        var parameters = parameters
        if form == .table || form == .csv { parameters.present = true }
        var total = 0
        var rest = all ? nil : page.limit
        repeat {
            if let rest { parameters.limit = LimitOption.next(of: rest) }
            let object = try await session.call(
                raw: Contents.List.name, JSONObject(writing: parameters) ?? .empty)
            let reply = try session.decode(Contents.List.self, object)
            printer.add(reply, object)
            total = reply.total
            parameters.cursor = reply.next
            parameters.present = nil
            rest = rest.map { $0 - reply.items.count }
        } while parameters.cursor != nil && rest.map { $0 > 0 } ?? isWhole
        printer.finish()
        let shown = Wording.shown(
            printer.count, of: total, hasMore: parameters.cursor != nil)
        let advice = page.limit == nil ? "--all shows the rest" : "a higher --limit shows more"
        guard form == .table else {
            // Who gave a limit knows that there may be more.
            if parameters.cursor != nil, page.limit == nil, form != .json {
                Output.note("\(shown); \(advice)")
            }
            return
        }
        Pager.finish()
        if let missing = printer.missing { Output.note(PrintableText.line(missing)) }
        if let closed = printer.closed {
            Output.note(PrintableText.line("\(container) is \(closed)"))
        }
        Output.note(shown + (parameters.cursor == nil ? "" : "; \(advice)"))
        if total == 0 { try await hint(session) }
        if total == 0, let parent, !parent.isEmpty { try await check(parent, session) }
    }

    /// Makes sure that there is an item of which nothing was found inside.
    private func check(_ parent: String, _ session: Session) async throws {
        do {
            _ = try await session.client.call(
                Contents.Get.self,
                .init(container: container, component: subject.component, item: parent))
        } catch let error as VarlinkRemoteError where error.as(Contents.ItemNotFound.self) != nil {
            // It may stand in another list, or in none any more.
            Output.note(PrintableText.line("there is no item '\(parent)' in this list"))
        }
    }

    private var isWhole: Bool { all || page.limit == nil && cursor == nil }

    /// Says of a filter that no item passes what was probably meant.
    private func hint(_ session: Session) async throws {
        guard !query.filter.isEmpty else { return }
        let sections = try await session.call(
            Interfaces.Filters.List.self, .init(container: container)
        ).sections
        for line in FilterHint.lines(query.filter, sections) {
            Output.note(PrintableText.line(line))
        }
    }

    private var chosenFields: [String]? {
        fields.map { $0.split(separator: ",").map(String.init) }
    }

    private var parameters: Contents.List.Parameters {
        .init(
            container: container, component: subject.component, scope: scope,
            parent: parent,
            filters: query.selection, search: query.search, sort: order.fields,
            fields: output == .ids ? [] : chosenFields,
            actor: subject.actor,
            limit: LimitOption.next(of: page.limit) ?? LimitOption.pageLength,
            cursor: cursor)
    }
}

/// What is probably wrong with filters that let nothing through.
enum FilterHint {
    /// A line for each choice that is no item's value.
    static func lines(_ choices: [FilterChoice], _ sections: [Section]) -> [String] {
        choices.compactMap { choice in
            guard let section = sections.first(where: { $0.id == choice.section }),
                section.input == .several || section.input == .single,
                !section.filters.contains(where: { $0.id == choice.filter })
            else { return nil }
            let nearest =
                Nearest.name(to: choice.filter, in: section.filters.map(\.id))
                .map { "; did you mean '\($0)'?" } ?? ""
            return "no item has \(choice.section) '\(choice.filter)'\(nearest)"
        }
    }
}
