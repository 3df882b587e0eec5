import AtriumKit
import Index
import JSONCodec
import Logging

/// A delegate's access to its container: the other half of the default wiring.
///
/// A delegate may keep it longer than the container exists; then it does nothing.
final class DelegateHandle: ContainerHandle {
    let name: String
    private weak var container: Container?

    init(_ container: Container) {
        name = container.name
        self.container = container
    }

    func choices(of screen: String) -> ScreenChoices? {
        container?.screens?.byID.choices(of: screen)
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        container?.screens?.byID.change(screen, edit)
    }

    func message(_ text: String, on screen: String) {
        container?.screens?.byID.message(text, on: screen)
    }

    func lead(_ screen: String, to container: String, item: String?) {
        self.container?.screens?.byID.navigate(screen, to: container, item: item)
    }

    func updateList(of component: ComponentReference, with change: ContentChange) {
        guard let container, let slot = container.slot(component.name), let list = slot.list else {
            return
        }
        let filling = container.fillings[slot.name]
        guard filling?.collect(change) != true else { return }
        let revision = container.domain.commits.sequence
        defer {
            filling?.follow(change, revision: revision)
            list.growOrders(in: container.domain)
            if container.definition.fields.contains(where: \.details) {
                container.screens?.itemsChanged(change.items.lazy.map(\.id))
            }
        }
        switch change {
        case .insert(let items), .update(let items): list.put(items, revision: revision)
        case .remove(let ids): list.remove(ids)
        case .replaceAll: container.fillings.refill(slot)
        @unknown default:
            container.domain.logger.error(
                "unknown kind of list change: the plugin may use a newer AtriumKit",
                metadata: ["container": "\(name)", "component": "\(component.name)"])
        }
    }

    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference) {
        guard let container, let slot = container.slot(component.name) else { return }
        container.derived.set(tally, of: subject, from: slot)
    }

    func updateCommentCount(
        _ count: Int, of subject: Subject, from component: ComponentReference
    ) {
        guard let container, let slot = container.slot(component.name) else { return }
        container.derived.set(count, of: subject, from: slot)
    }

    func publish(_ name: String, _ payload: [String: Value]) {
        guard let container else { return }
        let topic = "\(self.name).\(name)"
        if let problem = Topic.problem(in: topic) {
            container.domain.logger.warning(
                "the delegate's notification is dropped",
                metadata: [
                    "container": "\(self.name)", "topic": "\(topic)", "reason": "\(problem)",
                ])
            return
        }
        container.post(name, payload.jsonBytes)
        if name == "reload" { reload(nil) }
    }

    func reload(_ component: String?) {
        guard let container else { return }
        do throws(HostError) {
            try container.contents.reload(component)
        } catch {
            container.domain.logger.warning(
                "a delegate asked to reload an unavailable component",
                metadata: ["container": "\(name)", "reason": "\(error.sentence)"])
        }
    }
}
