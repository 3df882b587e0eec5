import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl list CONTAINER`.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a container's items: filtered, searched, sorted.")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @OptionGroup var query: QueryOptions
    @OptionGroup var order: SortOptions

    @Option(
        help: ArgumentHelp(
            "Show these fields alone, with commas between.", valueName: "field,…"))
    var fields: String?

    @Option(help: ArgumentHelp("At most so many items.", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Go on after a page.", valueName: "cursor"))
    var cursor: String?

    @Option(
        help: ArgumentHelp("Only the lists of this scope: its first.", valueName: "name"),
        completion: .scopes)
    var scope: String?

    @Flag(help: "All pages.")
    var all = false

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard limit.map({ $0 > 0 }) ?? true else {
            throw ValidationError("--limit is at least 1.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        var parameters = parameters
        var items: [Item] = []
        var last: Contents.List.Reply?
        repeat {
            let reply = try await page(parameters, session)
            if !session.printsJSON { items += reply.items }
            last = reply
            parameters.cursor = reply.next
        } while all && parameters.cursor != nil
        guard !session.printsJSON, let last else { return }
        let described = try await session.call(
            Containers.Describe.self, .init(container: container))
        ItemTable(fields: shown(described), items: items).table.show()
        var footer = "\(Wording.count(items.count)) of \(Wording.count(last.total))"
        if let next = last.next { footer += "; more with --cursor \(next)" }
        Output.note(PrintableText.line(footer))
        if last.total == 0 { try await hint(session) }
    }

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
            filters: query.selection, search: query.search, sort: order.fields,
            fields: chosenFields,
            actor: subject.actor, limit: limit ?? (all ? 1000 : nil), cursor: cursor)
    }

    /// A page; with `--json` it is printed as it came.
    private func page(
        _ parameters: Contents.List.Parameters, _ session: Session
    ) async throws -> Contents.List.Reply {
        let object = try await session.call(
            raw: Contents.List.name, JSONObject(writing: parameters) ?? .empty)
        if session.printsJSON { Output.rawLine(object.bytes) }
        return try session.decode(Contents.List.self, object)
    }

    /// The fields that were asked for, or else those that the definition presents.
    private func shown(_ described: Containers.Describe.Reply) -> [Field] {
        guard let chosenFields else {
            let lists =
                described.container.scopes?.first { $0.name == scope }?.contents
                ?? described.container.contents
            let list = described.container.components.first {
                $0.kind == "contents" && $0.name == subject.component ?? lists?.first ?? $0.name
            }
            let present = list?.present ?? described.container.present
            return ItemTable.shown(described.fields, present)
        }
        return chosenFields.compactMap { name in described.fields.first { $0.name == name } }
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

/// Items as a table: a column for the id, one for each field, then votes and comments where there
/// are such components.
struct ItemTable {
    private(set) var table: Table

    /// The fields that are shown of items: those that a presentation names, or else all but pictures.
    static func shown(_ fields: [Field], _ present: Present?) -> [Field] {
        guard let columns = present?.columns else {
            return fields.filter { $0.type != "image" && $0.details != true }
        }
        let named = [present?.title, present?.subtitle].compactMap(\.self)
        let names = named.filter { !columns.contains($0) } + columns
        return names.compactMap { name in fields.first { $0.name == name } }
    }

    init(fields declared: [Field], items: [Item]) {
        // A date that follows from a field is in no item.
        let fields = declared.filter { $0.of == nil }
        let hasVotes = items.contains { $0.votes != nil }
        let hasComments = items.contains { $0.comments != nil }
        var columns = [Table.Column.identifier("id")]
        columns += fields.map {
            FieldText.isNumber($0.type) ? .number($0.name) : .text($0.name)
        }
        if hasVotes { columns.append(.number("votes")) }
        if hasComments { columns.append(.number("comments")) }
        let hasChildren = items.contains { $0.children != nil }
        if hasChildren { columns.append(.number("inside")) }
        table = Table(columns)
        for item in items {
            let values = item.fields.value
            var cells = [item.id]
            cells += fields.map { field in
                values[field.name].map {
                    FieldText.shown($0, type: field.type) + (field.unit.map { " \($0)" } ?? "")
                } ?? ""
            }
            if hasVotes { cells.append(item.votes.map(TallyText.short) ?? "") }
            if hasComments { cells.append(item.comments.map { Wording.count($0) } ?? "") }
            if hasChildren { cells.append(item.children.map { Wording.count($0) } ?? "") }
            table.add(cells)
        }
    }
}
