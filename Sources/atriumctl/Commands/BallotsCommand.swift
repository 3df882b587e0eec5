import ArgumentParser
import Interfaces

struct BallotsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ballots", abstract: "List who voted what (moderators).",
        discussion: """
            The latest come first. With --limit it prints some of them, which need not be the \
            latest.
            """,
        examples: "atriumctl ballots films/alien-1979")

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
        var ballots: [Votes.Ballots.Reply.Ballots] = []
        try await session.pages(
            Votes.Ballots.self, parameters, cursor: \.cursor, limit: \.limit, most: page.limit
        ) { reply in
            if !session.printsJSON { ballots += reply.ballots }
            return (reply.ballots.count, reply.next)
        }
        guard !session.printsJSON else { return }
        guard !ballots.isEmpty else {
            return Output.note("nobody voted on \(PrintableText.line(target.description)).")
        }
        var table = Table([.identifier("actor"), .number("value"), .text("cast")])
        for ballot in ballots.sorted(by: { $0.cast > $1.cast }) {
            table.add([
                ActorName.shown(ballot.actor), Wording.number(ballot.value),
                WireTime.age(of: ballot.cast),
            ])
        }
        table.show()
    }
}
