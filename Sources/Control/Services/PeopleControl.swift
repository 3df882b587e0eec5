import Host
import Interfaces
import Varlink

/// `org.atrium.People` over the registry.
struct PeopleControl: PeopleService {
    let context: ControlContext

    func erase(_ parameters: People.Erase.Parameters, call: VarlinkCall<People.Erase.Reply>) {
        context.registry.erasures.erase(parameters.actor) { result in
            call.answer(result, in: People.self) {
                .init(
                    ballots: $0.ballots, comments: $0.comments,
                    notifications: $0.notifications, sequence: Int($0.sequence),
                    copies: $0.copies)
            }
        }
    }
}
