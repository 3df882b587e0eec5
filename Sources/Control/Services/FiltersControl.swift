import AtriumKit
import Host
import Interfaces
import Varlink

/// `org.atrium.Filters` over containers.
struct FiltersControl: FiltersService {
    let context: ControlContext

    func list(
        _ parameters: Filters.List.Parameters, call: VarlinkCall<Filters.List.Reply>
    ) {
        let selection = Selection(parameters.filters ?? [:])
        let user = context.own(call.peer).actor
        context.find(parameters.container, for: call, in: Filters.self) { container in
            container.filters(
                parameters.component, in: parameters.scope, selection,
                search: parameters.search, by: user
            ) { result in
                call.answer(result, in: Filters.self) {
                    .init(
                        sections: $0.sections.map(Interfaces.Section.init), total: $0.total,
                        sequence: Int($0.sequence))
                }
            }
        }
    }
}
