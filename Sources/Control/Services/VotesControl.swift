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
        if parameters.actor == nil,
            let container = context.registry.container(parameters.container)
        {
            return answer(
                call, with: container.votes.tally(of: parameters.item, in: parameters.component))
        }
        context.read(
            call, of: parameters.container, in: Votes.self, as: parameters.actor
        ) { container in
            container.votes.tally(
                of: parameters.item, in: parameters.component, actor: parameters.actor,
                by: context.user(call.peer)
            ) { answer(call, with: $0) }
        }
    }

    private func answer(
        _ call: VarlinkCall<Votes.Tally.Reply>, with result: Result<TallyResult, HostError>
    ) {
        call.answer(result, in: Votes.self) {
            .init(tally: Interfaces.VoteTally($0.tally), sequence: Int($0.sequence))
        }
    }

    func ballots(
        _ parameters: Votes.Ballots.Parameters, call: VarlinkCall<Votes.Ballots.Reply>
    ) {
        context.find(parameters.container, for: call, in: Votes.self) { container in
            container.votes.ballots(
                on: parameters.item, in: parameters.component, limit: parameters.limit ?? 100,
                cursor: parameters.cursor, by: context.user(call.peer)
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
