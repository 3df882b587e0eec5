import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl open CONTAINER`.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a screen on a container, live, until Ctrl-C.",
        discussion: """
            With --json each revision is a line. Else the list is drawn again whenever it changes.
            """)

    @Argument(help: "The container.")
    var container: String

    @OptionGroup var query: QueryOptions
    @OptionGroup var order: SortOptions

    @Option(help: ArgumentHelp("At most so many items of a list.", valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp(
            "On whose behalf, for front ends: NAMESPACE:NAME.", valueName: "actor"))
    var actor: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let fields =
            session.printsJSON
            ? []
            : try await session.call(
                Containers.Describe.self, .init(container: container)
            ).fields
        var model = ScreenModel()
        try await session.stream(Screens.Open.self, parameters) { reply, object in
            if session.printsJSON { return Output.rawLine(object.bytes) }
            try model.apply(reply)
            draw(model, fields)
        }
    }

    private var parameters: Screens.Open.Parameters {
        let room = Terminal.height.map { max(5, $0 - 6) }
        return .init(
            container: container, filters: query.selection, search: query.search,
            sort: order.fields, limit: limit ?? (connection.json ? nil : room), actor: actor)
    }

    private func draw(_ model: ScreenModel, _ fields: [Field]) {
        let clear = Terminal.isOutputTerminal ? "\u{1B}[H\u{1B}[2J" : ""
        var lines = ["\(container) · revision \(model.revision)"]
        if let tally = model.tally, tally.score != nil {
            lines[0] += " · votes: \(TallyText.full(tally))"
        }
        for list in model.lists where !list.items.isEmpty || model.lists.count == 1 {
            let table = ItemTable(fields: fields, items: list.items).table
            lines += table.lines(width: Terminal.width, color: Terminal.hasColor)
            lines.append(
                "\(Wording.count(list.items.count)) of \(Wording.count(list.total))"
                    + (model.lists.count > 1 ? " in \(PrintableText.line(list.component))" : ""))
        }
        Output.bytes(Array((clear + lines.joined(separator: "\n") + "\n").utf8))
    }
}

/// What a screen shows: the edits of its revisions, applied.
struct ScreenModel {
    /// One list of the screen.
    struct List: Equatable {
        var component: String
        var total = 0
        var items: [Item] = []
    }

    private(set) var revision = 0
    private(set) var tally: VoteTally?
    private(set) var lists: [List] = []

    /// Takes in a revision.
    mutating func apply(_ reply: Screens.Open.Reply) throws {
        if reply.base == nil {
            self = ScreenModel()
        } else if reply.base != revision {
            throw CommandFailure(
                "the screen came out of step (revision \(revision), edits from "
                    + "\(reply.base ?? 0))", hint: "open it again.")
        }
        revision = reply.revision
        tally = reply.tally ?? tally
        for change in reply.lists ?? [] {
            let known = lists.firstIndex { $0.component == change.component }
            var list = known.map { lists[$0] } ?? List(component: change.component)
            list.total = change.total
            for edit in change.edits { try list.apply(edit) }
            if let known { lists[known] = list } else { lists.append(list) }
        }
    }
}

extension ScreenModel.List {
    /// Takes in an edit; those of comments are left out, since only items are shown.
    fileprivate mutating func apply(_ edit: Edit) throws {
        guard edit.comment == nil else { return }
        switch (edit.op, edit.item, edit.to) {
        case (.insert, let item?, _) where edit.at >= 0 && edit.at <= items.count:
            items.insert(item, at: edit.at)
        case (.update, let item?, _) where items.indices.contains(edit.at):
            items[edit.at] = item
        case (.remove, _, _) where items.indices.contains(edit.at):
            items.remove(at: edit.at)
        case (.move, _, let to?)
        where items.indices.contains(edit.at) && items.indices.contains(to):
            items.insert(items.remove(at: edit.at), at: to)
        default:
            throw CommandFailure(
                "the screen came out of step (no place \(edit.at) in a list of "
                    + "\(items.count))", hint: "open it again.")
        }
    }
}
