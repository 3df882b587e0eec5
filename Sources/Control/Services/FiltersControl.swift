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
        let page = parameters.section.map {
            SectionPage(section: $0, text: parameters.text, cursor: parameters.cursor)
        }
        guard page != nil || parameters.text == nil && parameters.cursor == nil else {
            let parameter = parameters.text == nil ? "cursor" : "text"
            return call.fail(VarlinkService.InvalidParameter(parameter: parameter))
        }
        context.read(
            call, of: parameters.container, in: Filters.self, as: parameters.actor
        ) { container in
            container.filters.list(
                parameters.component, in: parameters.scope, selection,
                search: parameters.search, page: page, by: context.user(call.peer),
                for: parameters.actor, while: { call.isAwaited }
            ) { result in
                call.answer(result, in: Filters.self) {
                    .init(
                        sections: $0.sections.map(Interfaces.Section.init), total: $0.total,
                        next: $0.next, sequence: Int($0.sequence))
                }
            }
        }
    }
}
