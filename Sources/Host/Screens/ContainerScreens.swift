import AtriumKit
import Index
import Logging

/// The screens of one container: opens, changes, updates and ends them.
///
/// Created when the registry adds the container; both refer to each other until the registry removes the container.
public final class ContainerScreens {
    let container: Container
    /// The screens of all containers.
    let table: ScreenTable
    /// The paths of items in the container's lists.
    let paths: ItemPaths
    /// The views and focuses.
    let shared = ViewTable()
    private(set) lazy var updates = ScreenUpdates(of: self)
    private(set) lazy var placement = ItemPlacement(of: self)
    private(set) lazy var audience = AudienceCount(of: self)
    private(set) lazy var parts = PartAssembly(of: self)
    private(set) lazy var ballots = ScreenBallots(of: self)
    /// The answers of filters components.
    private(set) lazy var answers = SharedAnswers(of: self)
    /// The outline of the container that screens showed last; nil: none yet.
    private var lastOutline: ContainerOutline?

    var domain: Domain { container.domain }

    init(on container: Container, in table: ScreenTable) {
        self.container = container
        self.table = table
        paths = ItemPaths(container: container)
    }

    func scope(on screen: String) -> String? { self.screen(screen)?.choices.view.scope }

    /// The container's screen with this id, or a part that shows the container.
    func screen(_ id: String) -> Screen? {
        let screen = table[ScreenID(id)] ?? table.parts[ScreenID(id)]
        return screen.flatMap { $0.home === self ? $0 : nil }
    }

    /// A screen of the container or a part of it, at any level, with the screens of its own container.
    private func reach(_ id: String) -> (home: ContainerScreens, screen: Screen)? {
        guard let screen = table[ScreenID(id)] ?? table.parts[ScreenID(id)], let home = screen.home
        else { return nil }
        var around: Screen? = screen
        while let outer = around {
            if outer.home === self { return (home, screen) }
            around = outer.place?.parent
        }
        return nil
    }

    /// All screens and parts that show the container.
    var everywhere: [Screen] {
        (Array(table.screens.values) + table.parts.values).filter { $0.home === self }
    }
}

// What screens show of the container itself.
extension ContainerScreens {
    func outline() -> ContainerOutline {
        let outline =
            lastOutline?.now(container.definition) ?? ContainerOutline(container.definition)
        lastOutline = outline
        return outline
    }

    /// Whether screens that hide these components show filters.
    func showsFilters(hiding hidden: Set<String>) -> Bool {
        container.slots.contains { $0.kind == .filters && !$0.isHidden(beside: hidden) }
    }

    func title(ofPart part: ComponentDefinition) -> String? {
        part.container.flatMap { table.homes()[$0] }.map {
            part.title ?? $0.container.definition.title ?? $0.container.name
        }
    }

    /// The components as shown on a screen that hides these, including parts.
    func components(
        in scope: ScopeDefinition?, _ mode: ListMode, hiding hidden: Set<String>
    ) -> [ScreenComponent] {
        guard !container.parts.isEmpty else {
            return container.slots(in: scope, mode).map {
                $0.view(hiding: hidden, in: container.definition)
            }
        }
        var places = container.places(in: scope, mode)[...]
        return container.definition.components.compactMap { component in
            guard component.isPart else {
                return places.popFirst()?.map { $0.view(hiding: hidden, in: container.definition) }
            }
            let title = title(ofPart: component)
            return ScreenComponent(
                name: component.name, kind: nil, container: component.container,
                title: title ?? component.title ?? component.name,
                isHidden: component.isHidden || hidden.contains(component.name),
                problem: title == nil ? component.absence : nil, facts: nil, present: nil, sort: [],
                empty: nil)
        }
    }
}

// Handles the container's changes, and its delegates' changes to single screens.
extension ContainerScreens: OpenScreens, ChangeFollower {
    var isIdle: Bool { updates.isIdle }

    func changed() { updates.changed() }

    func flush() { updates.flush() }

    func structureChanged() {
        updates.structureChanged()
        table.surroundings = nil
        audience.recount()
        audience.recountParts()
        parts.retry()
        for focus in shared.focuses.values.joined() { focus.value.touch(withDetails: true) }
        updates.changed()
    }

    func countAudience() { audience.recount() }

    func committed() { updates.committed() }

    func isInUse(_ item: String) -> Bool { shared.isInUse(item) }

    func itemsRemoved(_ items: Set<String>) { placement.itemsRemoved(items) }

    func ballotChanged(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        ballots.update(value, of: actor, on: subject, in: slot)
    }

    func ballotsChanged() { ballots.clear() }

    func partsChanged(hadParts: Bool) { parts.changed(hadParts: hadParts) }

    func subjectChanged(_ subject: Subject) { touch(subject, withDetails: false) }

    private func touch(_ subject: Subject, withDetails: Bool) {
        for focus in (shared.focuses[subject] ?? [:]).values {
            focus.touch(withDetails: withDetails)
        }
    }

    func itemsChanged(_ items: some Sequence<String>) {
        guard !shared.focuses.isEmpty else { return }
        for item in items { touch(.item(item), withDetails: true) }
    }

    func commentsGone(_ comments: Set<String>, of component: String) {
        for focuses in shared.focuses.values {
            for focus in focuses.values { focus.removeComments(comments, of: component) }
        }
    }

    func scopesChanged() {
        var screens = everywhere
        // Until then they show the lists of the first scope.
        domain.slices.run { [self] in
            guard let screen = screens.popLast() else { return false }
            let scope = screen.choices.view.scope
            guard scope != container.scope(scope)?.name,
                screen.place == nil || screen.view != nil
            else { return true }
            change(screen) { _ in
            } then: { _ in
            }
            return true
        } then: {
        }
    }

    func delegate(on screen: String) -> Result<ContainerDelegate, HostError>? {
        self.screen(screen).map { delegate(on: $0) }
    }

    /// The delegate for events on a screen: that of its scope, or else of the container.
    func delegate(on screen: Screen) -> Result<ContainerDelegate, HostError> {
        container.delegate(in: screen.choices.view.scope)
    }

    func choices(of screen: String) -> ScreenChoices? {
        reach(screen).map { ScreenChoices($0.home.placement.choices(of: $0.screen)) }
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        if let (home, screen) = reach(screen) { home.change(screen, asDelegate: edit) }
    }

    func message(_ text: String, on screen: String) { self.screen(screen)?.send(message: text) }

    func lead(_ screen: String, to container: String, item: String?) {
        guard Names.isName(container), item.map(ItemID.isNormal) ?? true else {
            return domain.logger.warning(
                "a delegate leads to an invalid container name or item id",
                metadata: [
                    "container": "\(self.container.name)", "to": "\(container.prefix(63))",
                ])
        }
        self.screen(screen)?.send(lead: ScreenLead(container: container, item: item))
    }
}
