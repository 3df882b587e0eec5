import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Votes` over containers.
struct VotesControl: VotesService {
    let context: ControlContext

    func cast(_ parameters: Votes.Cast.Parameters, call: VarlinkCall<Votes.Cast.Reply>) {
        guard let caller = context.admit(call, in: Votes.self, as: parameters.actor) else { return }
        context.find(parameters.container, for: call, in: Votes.self) { container in
            container.votes.cast(
                parameters.value, on: parameters.item, in: parameters.component, by: caller
            ) { result in
                call.answer(result, in: Votes.self) {
                    .init(
                        tally: Interfaces.VoteTally($0.tally), previous: $0.previous,
                        sequence: Int($0.sequence))
                }
            }
        }
    }

    func retract(
        _ parameters: Votes.Retract.Parameters, call: VarlinkCall<Votes.Retract.Reply>
    ) {
        guard let caller = context.admit(call, in: Votes.self, as: parameters.actor) else { return }
        context.find(parameters.container, for: call, in: Votes.self) { container in
            container.votes.retract(
                on: parameters.item, in: parameters.component, by: caller
            ) { result in
                call.answer(result, in: Votes.self) {
                    .init(
                        tally: Interfaces.VoteTally($0.tally), previous: $0.previous,
                        sequence: Int($0.sequence))
                }
            }
        }
    }

    func tally(_ parameters: Votes.Tally.Parameters, call: VarlinkCall<Votes.Tally.Reply>) {
        // Without a closure, which would be an allocation: this is the most frequent call.
        guard parameters.actor == nil,
            let container = context.registry.container(parameters.container)
        else { return tallyWithBallot(parameters, call) }
        do throws(HostError) {
            let tally = try container.votes.tally(of: parameters.item, in: parameters.component)
            call.reply(.init(tally))
        } catch {
            call.fail(error.reply(of: Votes.self))
        }
    }

    private func tallyWithBallot(
        _ parameters: Votes.Tally.Parameters, _ call: VarlinkCall<Votes.Tally.Reply>
    ) {
        context.read(
            call, of: parameters.container, in: Votes.self, as: parameters.actor
        ) { container in
            container.votes.tally(
                of: parameters.item, in: parameters.component, actor: parameters.actor,
                by: context.user(call.peer)
            ) { call.answer($0, in: Votes.self) { .init($0) } }
        }
    }

    func ballots(
        _ parameters: Votes.Ballots.Parameters, call: VarlinkCall<Votes.Ballots.Reply>
    ) {
        context.find(parameters.container, for: call, in: Votes.self) { container in
            container.votes.ballots(
                on: parameters.item, in: parameters.component, limit: parameters.limit ?? 100,
                cursor: parameters.cursor, by: context.user(call.peer),
                while: { call.isAwaited }
            ) { result in
                call.answer(result, in: Votes.self, hasDetails: true) { page in
                    .init(
                        ballots: page.ballots.map {
                            .init(actor: $0.actor, value: $0.value, cast: $0.cast.text)
                        }, next: page.next, sequence: Int(page.sequence))
                }
            }
        }
        context.reviewRead(call) {
            context.denial(of: Votes.Ballots.name, wanting: .moderator, to: call.peer)
        }
    }
}

extension Votes.Tally.Reply {
    fileprivate init(_ result: TallyResult) {
        self.init(tally: Interfaces.VoteTally(result.tally), sequence: Int(result.sequence))
    }
}
