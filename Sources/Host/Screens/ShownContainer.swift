import AtriumKit

/// What a container's screens show of the container itself: its outline, and its components.
final class ShownContainer {
    private unowned let screens: ContainerScreens
    /// The outline that screens showed last; nil: none yet.
    private var lastOutline: ContainerOutline?

    init(of screens: ContainerScreens) { self.screens = screens }

    private var container: Container { screens.container }

    /// The outline of the container as it is now; the same object as before if it has not changed.
    func outline() -> ContainerOutline {
        let outline =
            lastOutline?.now(container.definition) ?? ContainerOutline(container.definition)
        lastOutline = outline
        return outline
    }

    /// The components as shown on a screen that hides these, including parts.
    func components(
        in scope: ScopeDefinition?, _ mode: ListMode, hiding hidden: Set<String>
    ) -> [ScreenComponent] {
        guard !container.parts.isEmpty else {
            return container.scopes.slots(in: scope, mode).map {
                $0.view(hiding: hidden, in: container.definition)
            }
        }
        var places = container.scopes.places(in: scope, mode)[...]
        return container.definition.components.compactMap { component in
            guard component.isPart else {
                return places.popFirst()?.map { $0.view(hiding: hidden, in: container.definition) }
            }
            let title = screens.title(ofPart: component)
            return ScreenComponent(
                name: component.name, kind: nil, container: component.container,
                title: title ?? component.title ?? component.name,
                isHidden: component.isHidden || hidden.contains(component.name),
                problem: title == nil ? component.absence : nil, facts: nil, present: nil, sort: [],
                empty: nil)
        }
    }
}
