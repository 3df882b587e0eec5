import ArgumentParser
import Interfaces
import JSONCodec
import Varlink

struct PutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Add an item, or change fields of one.",
        discussion: """
            Values are typed as the container declares its fields: keywords with commas or several \
            times, durations as 1h57m or seconds. FIELD= takes a field away. Fields that are not \
            named stay, and the parent does, unless --replace is given.
            """,
        examples: #"atriumctl put songs/so-what title="So What" length=9m22s"#,
        "atriumctl put songs/so-what length=")

    @Argument(
        help: ArgumentHelp("The item.", valueName: "container/item"), completion: .targets,
        transform: Target.parse)
    var target: Target

    @Argument(help: ArgumentHelp("The fields.", valueName: "field=value"))
    var values: [String] = []

    @Flag(help: "Replace the whole item: it has only these fields, and only this parent.")
    var replace = false

    @Option(
        help: ArgumentHelp("The parent item; '' for none.", valueName: "item"),
        transform: Target.id)
    var parent: String?

    @OptionGroup var list: ListOption

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let item = try target.requiredItem()
        let session = try await connection.connect()
        let fields = try await session.describe(target.container).fields
        let members = try FieldInput.members(values, fields: fields)
        // Somebody else may change the item between the look and the change: look again.
        for attempt in 1... {
            do {
                return try await put(item, members, session)
            } catch let error as VarlinkRemoteError {
                let isChanged = error.as(Contents.RevisionMismatch.self) != nil
                guard isChanged, attempt < 4 else { throw await session.explain(error) }
            }
        }
    }

    private func put(
        _ item: String, _ members: [JSONValue.Member], _ session: Session
    ) async throws {
        var values = JSONValue.object([])
        var parent = parent
        var revision: Int?
        if !replace {
            let current = try await self.current(item, session)
            values = current?.item.fields.value ?? values
            parent = parent ?? current?.item.parent
            revision = current?.sequence ?? 0
        }
        for member in members {
            values[member.name] =
                member.value == .null ? Optional<JSONValue>.none : member.value
        }
        let parameters = Contents.Put.Parameters(
            container: target.container, component: list.component,
            items: [
                .init(
                    id: item, fields: JSONObject(values) ?? .empty,
                    parent: parent?.isEmpty == true ? nil : parent, ifRevision: revision)
            ])
        let object = try await session.sayingWait {
            try await session.client.call(
                raw: Contents.Put.name, parameters: JSONObject(writing: parameters) ?? .empty)
        }
        if session.printsJSON { return Output.rawLine(object.bytes) }
        let reply = try session.decode(Contents.Put.self, object)
        let done = reply.inserted > 0 ? "added" : reply.updated > 0 ? "changed" : "unchanged"
        Output.line(PrintableText.line("\(target.description) \(done)"))
    }

    private func current(
        _ item: String, _ session: Session
    ) async throws -> Contents.Get.Reply? {
        do {
            return try await session.sayingWait {
                try await session.client.call(
                    Contents.Get.self,
                    .init(container: target.container, component: list.component, item: item))
            }
        } catch let error as VarlinkRemoteError where error.as(Contents.ItemNotFound.self) != nil {
            return nil
        }
    }
}

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove items.",
        discussion: "Their votes and comments are kept, hidden, and return with the item.",
        examples: "atriumctl remove songs/so-what",
        "atriumctl remove songs/so-what songs/freddie-freeloader --purge --yes")

    @Argument(
        help: ArgumentHelp("The items.", valueName: "container/item"), completion: .targets,
        transform: Target.parse)
    var targets: [Target]

    @Flag(help: "Erase their votes and comments too. Can't be undone; asks first.")
    var purge = false

    @Flag(name: .shortAndLong, help: "Erase without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var list: ListOption

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        var items: [(container: String, ids: [String])] = []
        for target in targets {
            let id = try target.requiredItem()
            if let index = items.firstIndex(where: { $0.container == target.container }) {
                items[index].ids.append(id)
            } else {
                items.append((target.container, [id]))
            }
        }
        if purge {
            let what = targets.count == 1 ? "'\(targets[0].description)'" : "\(targets.count) items"
            try Question.beforeErasing("\(what) with all votes and comments", isSure: yes)
        }
        let session = try await connection.connect()
        for (container, ids) in items {
            let parameters = Contents.Remove.Parameters(
                container: container, component: list.component, items: ids,
                purge: purge ? true : nil)
            guard let reply = try await session.answer(Contents.Remove.self, parameters)
            else { continue }
            let missing = ids.count - reply.removed
            let note =
                missing == 0
                ? ""
                : ids.count == 1
                    ? "; there is no '\(ids[0])'" : "; \(Wording.count(missing)) not there"
            Output.line("\(container): \(Wording.count(reply.removed, "item")) removed\(note)")
        }
    }
}
