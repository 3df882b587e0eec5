import ArgumentParser
import Interfaces

struct ContainersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "containers", abstract: "List the containers.",
        examples: "atriumctl containers")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(Containers.List.self, .init()) else { return }
        guard !reply.containers.isEmpty else {
            return Output.note("no containers yet; 'atriumctl apply -f FILE' makes one.")
        }
        var table = Table([
            .text("name", .essential), .text("title"), .state("state"), .number("items"),
            .text("components", least: 12),
        ])
        for container in reply.containers {
            table.add([
                container.name, container.title, container.state.rawValue,
                Wording.count(container.items),
                container.components.map(\.name).joined(separator: ", "),
            ])
        }
        table.show()
        for container in reply.containers {
            guard let reason = container.reason else { continue }
            Output.line(PrintableText.line("\(container.name): \(reason)"))
        }
    }
}

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a container.",
        discussion: "Its items, votes and comments are kept, and return when it is applied again.",
        examples: "atriumctl delete films", "atriumctl delete films --purge --yes")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Flag(
        help: "Erase its items, votes and comments too. Can't be undone; asks first.")
    var purge = false

    @Flag(name: .shortAndLong, help: "Erase without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        if purge {
            try Question.beforeErasing(
                "'\(container)' with its items, votes and comments", isSure: yes)
        }
        let session = try await connection.connect()
        let parameters = Containers.Delete.Parameters(
            container: container, purge: purge ? true : nil)
        try await session.report(Containers.Delete.self, parameters) { _ in
            "\(container) \(purge ? "deleted and purged" : "deleted")"
        }
    }
}
