import ArgumentParser
import Interfaces

/// The command `atriumctl ballots CONTAINER[/ITEM]`.
struct BallotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballots", abstract: "List who voted what (moderators)."
    )
    .examples("atriumctl ballots films/alien-1979")

    @Argument(
        help: ArgumentHelp("What was voted on.", valueName: "container[/item]"),
        completion: .targets, transform: Target.parse)
    var target: Target

    @OptionGroup var page: LimitOption

    @OptionGroup var which: ComponentOption

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Votes.Ballots.Parameters(
            container: target.container, item: target.item, component: which.component)
        var table = Table([.identifier("actor"), .number("value"), .text("cast")])
        try await session.pages(
            Votes.Ballots.self, parameters, cursor: \.cursor, limit: \.limit, most: page.limit
        ) { reply in
            for ballot in reply.ballots {
                table.add([
                    ActorName.shown(ballot.actor), Wording.number(ballot.value),
                    WireTime.age(of: ballot.cast),
                ])
            }
            return (reply.ballots.count, reply.next)
        }
        guard !session.printsJSON else { return }
        guard !table.isEmpty else {
            return Output.note("nobody voted on \(PrintableText.line(target.description)).")
        }
        table.show()
    }
}
