import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Votes` over the registry.
struct VotesControl: VotesService {
    let context: ControlContext

    func cast(_ parameters: Votes.Cast.Parameters, call: VarlinkCall<Votes.Cast.Reply>) {
        let address = SubjectAddress(
            container: parameters.container, component: parameters.component,
            item: parameters.item)
        context.write(call, in: Votes.self, as: parameters.actor) { registry, caller in
            registry.cast(address, value: parameters.value, by: caller) { result in
                call.settle(result, in: Votes.self) {
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
        let address = SubjectAddress(
            container: parameters.container, component: parameters.component,
            item: parameters.item)
        context.write(call, in: Votes.self, as: parameters.actor) { registry, caller in
            registry.retract(address, by: caller) { result in
                call.settle(result, in: Votes.self) {
                    .init(
                        tally: Interfaces.VoteTally($0.tally), previous: $0.previous,
                        sequence: Int($0.sequence))
                }
            }
        }
    }

    func tally(_ parameters: Votes.Tally.Parameters, call: VarlinkCall<Votes.Tally.Reply>) {
        let address = SubjectAddress(
            container: parameters.container, component: parameters.component,
            item: parameters.item)
        if parameters.actor == nil, let tally = context.registry.tally(address) {
            return answer(call, with: tally)
        }
        context.read(call, as: parameters.actor) { registry, actor in
            registry.tally(address, actor: actor) { answer(call, with: $0) }
        }
    }

    private func answer(
        _ call: VarlinkCall<Votes.Tally.Reply>, with result: Result<TallyResult, HostError>
    ) {
        call.settle(result, in: Votes.self) {
            .init(tally: Interfaces.VoteTally($0.tally), sequence: Int($0.sequence))
        }
    }

    func ballots(
        _ parameters: Votes.Ballots.Parameters, call: VarlinkCall<Votes.Ballots.Reply>
    ) {
        let address = SubjectAddress(
            container: parameters.container, component: parameters.component,
            item: parameters.item)
        context.registry.ballots(
            address, limit: parameters.limit ?? 100, cursor: parameters.cursor
        ) { result in
            call.settle(result, in: Votes.self) { page in
                .init(
                    ballots: page.ballots.map {
                        .init(actor: $0.actor, value: $0.value, cast: $0.cast.text)
                    }, next: page.next, sequence: Int(page.sequence))
            }
        }
        context.reviewRead(call) {
            context.denial(of: Votes.Ballots.name, wanting: .moderator, to: call.peer)
        }
    }
}
