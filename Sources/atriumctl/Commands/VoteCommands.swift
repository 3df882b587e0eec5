import ArgumentParser
import AtriumFormats
import Interfaces

struct VoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vote", abstract: "Vote on an item, or on the container as a whole.",
        examples: "atriumctl vote films/alien-1979 5")

    @Argument(
        help: ArgumentHelp("What to vote on.", valueName: "container[/item]"), completion: .targets,
        transform: Target.parse)
    var target: Target

    @Argument(help: "The value, such as 1 to 5 stars.", transform: Self.number)
    var value: Double

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    /// The number that an argument is; else throws a `ValidationError` with what it may be.
    private static func number(_ argument: String) throws -> Double {
        guard let number = FieldValues.decimal(argument) else {
            throw ValidationError("a vote is a number, such as 4 or 0.5.")
        }
        return number
    }

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Votes.Cast.Parameters(
            container: target.container, item: target.item, component: subject.component,
            value: value, actor: subject.actor)
        do {
            try await session.report(Votes.Cast.self, parameters) { reply in
                let before = reply.previous.map { ", \(Wording.number($0)) before" } ?? ""
                return "voted \(Wording.number(value)) on \(target.description)\(before); now "
                    + TallyText.full(reply.tally, of: subject.actor)
            }
        } catch var failure as CommandFailure {
            if failure.hint == nil {
                failure.hint = await missedScale(session, said: failure.sentence)
            }
            throw failure
        }
    }

    /// What votes go from and to, where a refused one did not; nil: it was refused for something else, or that was said.
    private func missedScale(_ session: Session, said sentence: String) async -> String? {
        let component = try? await session.describe(target.container).container.components.first {
            subject.component == nil ? $0.kind == "votes" : $0.name == subject.component
        }
        guard let facts = component?.votes, !FactsText.takes(value, facts),
            !sentence.contains(FactsText.range(facts))
        else { return nil }
        return "votes go here from \(FactsText.scale(facts))."
    }
}

struct UnvoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unvote", abstract: "Retract your vote.",
        examples: "atriumctl unvote films/alien-1979")

    @Argument(
        help: ArgumentHelp("What was voted on.", valueName: "container[/item]"),
        completion: .targets, transform: Target.parse)
    var target: Target

    @OptionGroup var subject: SubjectOptions
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let parameters = Votes.Retract.Parameters(
            container: target.container, item: target.item, component: subject.component,
            actor: subject.actor)
        try await session.report(Votes.Retract.self, parameters) { reply in
            let done =
                reply.previous.map { "retracted the vote \(Wording.number($0)) on" }
                ?? "there was no vote of \(subject.actor ?? "yours") on"
            return "\(done) \(target.description); now "
                + TallyText.full(reply.tally, of: subject.actor)
        }
    }
}
