import ArgumentParser
import Glibc
import Interfaces
import JSONCodec
import Varlink

struct DescribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Show a container, or an item, in full.",
        examples: "atriumctl describe films", "atriumctl describe films/alien-1979",
        "atriumctl describe films --definition >films.yaml")

    @Argument(
        help: ArgumentHelp("What to show.", valueName: "container[/item]"), completion: .targets,
        transform: Target.parse)
    var target: Target

    @Flag(help: "Print the container's definition alone, as it was last applied.")
    var definition = false

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !definition || target.item == nil else {
            throw ValidationError("--definition is a container's: leave the item out.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        if let item = target.item {
            try await describe(item, session)
        } else {
            try await describeContainer(session)
        }
    }

    private func describe(_ item: String, _ session: Session) async throws {
        var parameters = Contents.Get.Parameters(
            container: target.container, component: subject.component, item: item,
            actor: subject.actor)
        if parameters.component == nil { parameters.component = await list(with: item, session) }
        guard let reply = try await get(parameters, session) else { return }
        let fields = try await session.describe(target.container).fields
        var facts = Facts()
        facts.add("Item", reply.item.id)
        let values = reply.item.fields.value
        let details = reply.details?.value
        for field in fields {
            let value = values[field.name] ?? details?[field.name]
            let text = value.map { FieldText.shown($0, type: field.type) }
            facts.add(
                field.title ?? field.name, text.map { $0 + (field.unit.map { " \($0)" } ?? "") })
        }
        for member in values.object ?? [] where !fields.contains(where: { $0.name == member.name })
        {
            facts.add(member.name, FieldText.shown(member.value, type: ""))
        }
        facts.add("Votes", reply.item.votes.map { TallyText.full($0, of: subject.actor) })
        facts.add("Comments", reply.item.comments.map { Wording.count($0) })
        facts.add("Items inside", reply.item.children.map { Wording.count($0) })
        // A source names all that it knows: what the fields say already is not repeated.
        for member in details?.object ?? []
        where values[member.name] == nil && !fields.contains(where: { $0.name == member.name }) {
            facts.add(member.name, FieldText.shown(member.value, type: ""))
        }
        facts.show()
    }

    /// Gets an item, with the caller's own vote where nobody else's is asked for; nil with `--json`: it was printed.
    private func get(
        _ parameters: Contents.Get.Parameters, _ session: Session
    ) async throws -> Contents.Get.Reply? {
        guard parameters.actor == nil, ServiceAddress.isLocal(session.socket) else {
            return try await session.answer(Contents.Get.self, parameters)
        }
        var own = parameters
        own.actor = "unix:\(getuid())"
        let question = JSONObject(writing: own) ?? .empty
        do {
            let object = try await session.sayingWait {
                try await session.client.call(raw: Contents.Get.name, parameters: question)
            }
            guard session.printsJSON else { return try session.decode(Contents.Get.self, object) }
            Output.rawLine(object.bytes)
            return nil
        } catch let error as VarlinkRemoteError {
            // In a user namespace the daemon knows the user by another number.
            guard case .actorForbidden? = InterfaceError(error) else {
                throw await session.explain(error)
            }
            return try await session.answer(Contents.Get.self, parameters)
        } catch {
            throw await session.explain(error)
        }
    }

    /// The list that has an item, where the container has several; nil: none of them, or there is one alone.
    ///
    /// The daemon looks in the first, unless the definition names another.
    private func list(with item: String, _ session: Session) async -> String? {
        let known = try? await session.client.call(
            Containers.Describe.self, .init(container: target.container))
        let lists = (known?.container.components ?? []).filter { $0.kind == "contents" }
        guard lists.count > 1 else { return nil }
        for list in lists {
            let parameters = Contents.Get.Parameters(
                container: target.container, component: list.name, item: item, actor: nil)
            if (try? await session.client.call(Contents.Get.self, parameters)) != nil {
                return list.name
            }
        }
        return nil
    }

    private func describeContainer(_ session: Session) async throws {
        let parameters = Containers.Describe.Parameters(container: target.container)
        guard let reply = try await session.answer(Containers.Describe.self, parameters)
        else { return }
        if definition {
            guard let text = reply.definition else {
                throw CommandFailure("'\(target.container)' was not made from a definition")
            }
            // A file has it as it was applied; a terminal would obey what is not printable.
            guard Terminal.isOutputTerminal else { return Output.bytes(Array(text.utf8)) }
            let lines = PrintableText.lines(text)
            return Output.bytes(Array(lines.joined(separator: "\n").utf8))
        }
        facts(reply).show()
        Output.line()
        components(reply).show()
        if let scopes = reply.container.scopes {
            Output.line()
            table(of: scopes, in: reply.container).show()
        }
        guard !reply.fields.isEmpty else { return }
        Output.line()
        fields(reply).show()
    }

    private func facts(_ reply: Containers.Describe.Reply) -> Facts {
        let container = reply.container
        var facts = Facts()
        facts.add("Container", container.name)
        facts.add("Title", container.title)
        facts.add(
            "State", container.state.rawValue + (container.reason.map { ": \($0)" } ?? ""))
        facts.add("Delegate", container.delegate)
        facts.add("Shows", container.contents.map { shown($0, in: container) })
        facts.add("Inside an item", container.entered.map { shown($0, in: container) })
        facts.add("While searching", container.searched.map { shown($0, in: container) })
        facts.add("Items show", container.present.map(FactsText.text))
        for component in container.components {
            facts.add("\(component.name) shows", component.present.map(FactsText.text))
            let order = component.sort?.joined(separator: ", ")
            facts.add("\(component.name) goes by", order)
            facts.add("\(component.name) restarted", component.restarts.map(Self.sentence))
            for call in component.restarts?.refuses ?? [] {
                facts.add("\(component.name) refuses", call)
            }
        }
        facts.add("Items", Wording.count(container.items))
        // Those on items are counted in lists.
        facts.add("Votes on it", reply.votes.map { TallyText.full($0) })
        facts.add("Comments on it", reply.comments.map { Wording.count($0) })
        return facts
    }

    /// How often, when again, and why.
    private static func sentence(_ restarts: Restarts) -> String {
        let times = restarts.count == 1 ? "once" : "\(Wording.count(restarts.count)) times"
        let row = restarts.failures > 1 ? ", \(Wording.count(restarts.failures)) in a row" : ""
        return times + row + (restarts.next.map { ", next at \($0)" } ?? "") + ": "
            + restarts.cause
    }

    private func components(_ reply: Containers.Describe.Reply) -> Table {
        var table = Table([
            .identifier("component", least: 24), .text("kind"), .text("plugin", least: 12),
            .state("state"), .text("lives in", .dispensable), .text("shown", .dispensable),
            .number("items"), .text("takes", least: 12), .sentences("reason"),
        ])
        for component in reply.container.components {
            table.add([
                component.name, component.kind,
                component.container.map { "container \($0)" } ?? component.plugin,
                component.state.rawValue,
                component.isolation.rawValue,
                component.hidden ? "hidden" : component.hidesEmpty == true ? "unless empty" : "yes",
                component.items.map { Wording.count($0) } ?? "",
                FactsText.text(component) ?? "", component.reason ?? "",
            ])
        }
        return table
    }

    private func table(of scopes: [Scope], in container: Container) -> Table {
        // Most have the same lists everywhere.
        let hasModes = scopes.contains { $0.entered != nil || $0.searched != nil }
        let modes: [Table.Column] = [
            .text("inside an item", least: 12), .text("while searching", least: 12),
        ]
        var table = Table(
            [.text("scope", .essential), .text("shows", least: 12)] + (hasModes ? modes : [])
                + [.text("activate"), .text("delegate"), .text("title")])
        for scope in scopes {
            let lists = [scope.contents, scope.entered, scope.searched]
                .prefix(hasModes ? 3 : 1).map { $0.map { shown($0, in: container) } ?? "" }
            table.add(
                [scope.name] + lists + [
                    scope.activate ?? "", scope.delegate ?? "",
                    scope.title == scope.name ? "" : scope.title,
                ])
        }
        return table
    }

    private func shown(_ lists: [String], in container: Container) -> String {
        lists.map { name in
            container.components.contains { $0.name == name } ? name : "\(name) (detached)"
        }.joined(separator: ", ")
    }

    private func fields(_ reply: Containers.Describe.Reply) -> Table {
        let words: [(head: String, of: (Field) -> String?)] = [
            ("title", \.title), ("unit", \.unit), ("description", \.description),
        ].filter { word in reply.fields.contains { word.of($0) != nil } }
        var table = Table(
            [
                .text("field", .essential), .text("type"), .text("required"), .text("searched"),
                .number("min"), .number("max"),
            ] + words.map { $0.head == "description" ? .sentences($0.head) : .text($0.head) })
        for field in reply.fields {
            table.add(
                [
                    field.name, type(of: field), field.required ? "yes" : "",
                    field.search ? "yes" : "", field.min.map(Wording.number) ?? "",
                    field.max.map(Wording.number) ?? "",
                ] + words.map { $0.of(field) ?? "" })
        }
        return table
    }

    /// `date (week of start, Europe/Rome)`.
    private func type(of field: Field) -> String {
        let source = field.of.map { "\(field.by ?? "") of \($0)" }
        let details = [source, field.zone].compactMap(\.self)
        return field.type + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
    }
}
