import ArgumentParser
import Interfaces

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erase a person: name, votes, comments and history.",
        discussion: """
            Tallies are as if they had never voted. Comments of theirs that others replied to keep their \
            place, as deleted ones. It is done when the store's files hold nothing of it any more; writes \
            wait for that, one to three seconds for each 100 MB. Backups and exports made before are yours to \
            delete. What the person does afterwards is a new person's.
            """,
        examples: "atriumctl erase web:42 --yes")

    @Argument(help: "The person, as in web:42 or unix:1000, or a login name of this machine.")
    var actor: String

    @Flag(name: .shortAndLong, help: "Erase without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let name = try ActorName.full(actor)
        try Question.beforeErasing("\(name) with all votes and comments", isSure: yes)
        let session = try await connection.connect()
        guard let reply = try await session.answer(People.Erase.self, .init(actor: name)) else {
            return
        }
        Output.line(
            PrintableText.line(
                "erased \(name): \(Wording.count(reply.ballots, "vote")), "
                    + "\(Wording.count(reply.comments, "comment")), "
                    + Wording.count(reply.notifications, "notification")))
        for copy in reply.copies {
            Output.note(
                PrintableText.line(
                    "hint: \(copy) holds the store as it was before: delete it, too."))
        }
    }
}
