import ArgumentParser
import Interfaces
import JSONCodec

/// The command `atriumctl ballots CONTAINER[/ITEM]`.
struct BallotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballots", abstract: "List who voted what (moderators)."
    )
    .examples("atriumctl ballots films/alien-1979")

    @Argument(help: ArgumentHelp("What was voted on.", valueName: "container[/item]"))
    var target: Target

    @Option(help: ArgumentHelp("At most so many; by default all.", valueName: "n"))
    var limit: Int?

    @Option(
        help: ArgumentHelp("Which component; by default the first.", valueName: "name"),
        completion: .components)
    var component: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        var parameters = Votes.Ballots.Parameters(
            container: target.container, item: target.item, component: component, limit: limit)
        var table = Table([.identifier("actor"), .number("value"), .text("cast")])
        repeat {
            let object = try await session.call(
                raw: Votes.Ballots.name, JSONObject(writing: parameters) ?? .empty)
            if session.printsJSON { Output.rawLine(object.bytes) }
            let reply = try session.decode(Votes.Ballots.self, object)
            for ballot in reply.ballots {
                table.add([
                    ActorName.shown(ballot.actor), Wording.number(ballot.value),
                    WireTime.age(of: ballot.cast),
                ])
            }
            parameters.cursor = reply.next
        } while limit == nil && parameters.cursor != nil
        guard !session.printsJSON else { return }
        guard !table.isEmpty else {
            return Output.note("nobody voted on \(PrintableText.line(target.description)).")
        }
        table.show()
    }
}
