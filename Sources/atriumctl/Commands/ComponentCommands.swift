public import ArgumentParser
public import Interfaces
import JSONCodec

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Attach a component to a container.",
        discussion: """
            A plugin makes it, or it is a container itself: then screens show that as a part of their own.
            """,
        examples: "atriumctl attach films stars --plugin org.atrium.stars --setting scale=10")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The new component's name.")
    var component: String

    @Option(
        help: ArgumentHelp("The plugin that makes it.", valueName: "id"), completion: .plugins)
    var plugin: String?

    @Option(
        name: .customLong("container"),
        help: ArgumentHelp("The container to attach as a part.", valueName: "child"),
        completion: .containers)
    var child: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A section of the part, and the section of the container that it follows.",
            valueName: "section=section"))
    var follow: [String] = []

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A setting; the value is JSON, or else a text.", valueName: "name=value"))
    var setting: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Its position, from 0; by default, and beyond the last, the end.", valueName: "n"))
    var at: Int?

    @Option(
        help: ArgumentHelp(
            "Where it runs: daemon, or process (of its own).", valueName: "where"))
    var isolation: Containers.Attach.Parameters.Isolation?

    @Flag(help: "Hide it on screens.")
    var hidden = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard (plugin == nil) != (child == nil) else {
            throw ValidationError("name a plugin, or a container: --plugin or --container")
        }
        guard child != nil || follow.isEmpty else {
            throw ValidationError("--follow is for a container: --container")
        }
        guard at ?? 0 >= 0 else { throw ValidationError("--at is a place from 0.") }
    }

    func run() async throws {
        let settings = try setting.map(Self.member)
        let follow = try follow.map(Self.pair)
        let session = try await connection.connect()
        let parameters = Containers.Attach.Parameters(
            container: container, component: component, plugin: plugin,
            settings: settings.isEmpty ? nil : JSONObject(settings), isolation: isolation, at: at,
            hidden: hidden ? true : nil, child: child,
            follow: follow.isEmpty ? nil : Dictionary(follow) { $1 })
        guard try await session.answer(Containers.Attach.self, parameters) != nil else { return }
        Output.line(PrintableText.line("\(container): \(component) attached"))
        // It is attached, whatever comes of this call.
        let known = try? await session.describe(container).container.components
        if let note = known?.first(where: { $0.name == component }).flatMap(Self.note) {
            Output.note(PrintableText.line(note))
        }
    }

    /// What to say of a component that is attached, and does not run or reports a problem; nil: nothing.
    static func note(_ component: Component) -> String? {
        let what: String? =
            switch component.state {
            case .starting: "has not started yet"
            case .failed: "does not run"
            case .loading, .attached: component.reason == nil ? nil : "reports a problem"
            }
        let reason = component.reason.map { ": \($0)" } ?? ""
        return what.map { "\(component.name) \($0)\(reason)" }
    }

    /// Two sections.
    private static func pair(_ argument: String) throws -> (String, String) {
        let names = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard names.count == 2, !names.contains("") else {
            throw CommandFailure(
                "'\(argument)' are no sections", hint: "write SECTION=SECTION.", status: .usage)
        }
        return (String(names[0]), String(names[1]))
    }

    /// A setting's name and value.
    static func member(_ argument: String) throws -> JSONValue.Member {
        guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else {
            throw CommandFailure(
                "'\(argument)' is no setting", hint: "write NAME=VALUE.", status: .usage)
        }
        let text = String(argument[argument.index(after: separator)...])
        let value = (try? JSON.decode(JSONValue.self, from: text)) ?? .string(text)
        return JSONValue.Member(String(argument[..<separator]), value)
    }
}

extension Containers.Attach.Parameters.Isolation: ExpressibleByArgument {}

struct DetachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach", abstract: "Detach a component from a container.",
        discussion: "Its data is kept, and returns when it is attached again.",
        examples: "atriumctl detach films stars", "atriumctl detach films stars --purge --yes")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The component.", completion: .components)
    var component: String

    @Flag(help: "Erase its data too. Can't be undone; asks first.")
    var purge = false

    @Flag(name: .shortAndLong, help: "Erase without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        if purge {
            try Question.beforeErasing("the data of '\(component)' of '\(container)'", isSure: yes)
        }
        let session = try await connection.connect()
        let parameters = Containers.Detach.Parameters(
            container: container, component: component, purge: purge ? true : nil)
        try await session.report(Containers.Detach.self, parameters) { _ in
            "\(container): \(component) \(purge ? "detached and purged" : "detached")"
        }
    }
}

struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a component to another place in its container.",
        examples: "atriumctl move films stars 0")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The component.", completion: .components)
    var component: String

    @Argument(help: "The new position, from 0; beyond the last: the end.")
    var place: Int

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard place >= 0 else { throw ValidationError("A place is a number from 0.") }
    }

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Containers.Move.Parameters(
            container: container, component: component, at: place)
        try await session.report(Containers.Move.self, parameters) { _ in
            let components = try await session.describe(container).container.components.map(\.name)
            return "\(container): \(Self.done(component, place, in: components))"
        }
    }

    /// What became of a move; a place beyond the last is the last.
    static func done(_ component: String, _ place: Int, in components: [String]) -> String {
        let found = components.firstIndex(of: component) ?? place
        let note = found < place ? ", the last place" : ""
        return "\(component) moved to \(found)\(note)"
    }
}

struct HideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: "Hide a component on screens; it continues to work.",
        examples: "atriumctl hide films talk")

    @OptionGroup var visibility: Visibility

    func run() async throws { try await visibility.set(hidden: true) }
}

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a component on screens again.",
        examples: "atriumctl show films talk")

    @OptionGroup var visibility: Visibility

    func run() async throws { try await visibility.set(hidden: false) }
}

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Make components read their sources again.",
        discussion: """
            A component does so at most once a second, and what it finds is shown later. A list \
            without a source, such as a catalogue, has nothing to read again, and the command says so.
            """,
        examples: "atriumctl refresh compilation")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The component; by default all of them.", completion: .components)
    var component: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Containers.Reload.Parameters(container: container, component: component)
        try await session.report(Containers.Reload.self, parameters) { _ in
            try await outcome(session)
        }
    }

    /// What was done: lists whose items are put and imported have no source.
    private func outcome(_ session: Session) async throws -> String {
        let what = component.map { "\(container): \($0)" } ?? container
        let known = try await session.describe(container).container.components
        let lists = known.filter { $0.kind == "contents" && $0.name == component ?? $0.name }
        for list in lists {
            guard case .records? = await ItemSource.of(list.name, in: container, session) else {
                return "\(what) was asked to look at its source again"
            }
        }
        // A component of another kind may have a source, too.
        guard component == nil else {
            return lists.isEmpty
                ? "\(what) was asked to look at its source again, if it has one"
                : "\(what) has no source: its items are put and imported"
        }
        return "\(what) was asked to look at its sources again; its lists have none"
    }
}

/// What `hide` and `show` have in common.
struct Visibility: ParsableArguments {
    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The component.", completion: .components)
    var component: String

    @OptionGroup var connection: ConnectionOptions

    func set(hidden: Bool) async throws {
        let session = try await connection.connect()
        let parameters = Containers.SetHidden.Parameters(
            container: container, component: component, hidden: hidden)
        try await session.report(Containers.SetHidden.self, parameters) { _ in
            "\(container): \(component) \(hidden ? "hidden" : "shown")"
        }
    }
}
