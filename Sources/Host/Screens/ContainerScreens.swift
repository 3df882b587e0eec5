import AtriumKit
import Index
import Logging

/// The screens on one container: opened, changed, kept up with what the container shows, and ended.
///
/// Made when the registry takes the container in; both refer to each other until it lets the container go.
public final class ContainerScreens {
    let container: Container
    /// The screens of all containers.
    let table: ScreenTable
    var screening = Screening()

    var domain: Domain { container.domain }

    init(on container: Container, in table: ScreenTable) {
        self.container = container
        self.table = table
    }

    /// The container's screen with this id.
    func screen(_ id: String) -> Screen? {
        table[ScreenID(id)].flatMap { $0.home === self ? $0 : nil }
    }
}

extension ContainerScreens {
    /// What screens are told of the container itself.
    func outline() -> ContainerOutline {
        let outline =
            screening.outline?.now(container.definition) ?? ContainerOutline(container.definition)
        screening.outline = outline
        return outline
    }
}

// What the container says to its screens, and its delegates to single ones.
extension ContainerScreens: OpenScreens, ChangeFollower {
    var isIdle: Bool { !screening.isDirty && !screening.isFollowing }

    func changed() {
        screening.version += 1
        guard !screening.isDirty else { return }
        screening.isDirty = true
        domain.flushLater(self)
    }

    func structureChanged() {
        screening.structure += 1
        countAudience()
        for focus in screening.focuses.values.joined() { focus.value.touch() }
        changed()
    }

    func committed() {
        screening.commits += 1
        guard !table.screens.isEmpty else {
            screening.version += 1
            return
        }
        changed()
        followTree()
        if !domain.hasArrivals { flush() }
    }

    func holds(_ item: String) -> Bool {
        screening.standing[item] != nil || screening.focuses[.item(item)] != nil
    }

    func subjectChanged(_ subject: Subject) {
        for focus in (screening.focuses[subject] ?? [:]).values { focus.touch() }
    }

    func itemsChanged(_ items: some Sequence<String>) {
        guard !screening.focuses.isEmpty else { return }
        for item in items { subjectChanged(.item(item)) }
    }

    func commentsGone(_ comments: Set<String>, of component: String) {
        for focuses in screening.focuses.values {
            for focus in focuses.values { focus.forget(comments, of: component) }
        }
    }

    func scopesChanged() {
        var screens = table.screens.values.filter { $0.home === self }
        // Until then they show what the first scope does.
        domain.inSlices { [self] in
            guard let screen = screens.popLast() else { return false }
            let scope = screen.choices.view.scope
            guard scope != container.scope(scope)?.name else { return true }
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

    /// Who is called for what happens on a screen: its scope's delegate, or else the container's.
    func delegate(on screen: Screen) -> Result<ContainerDelegate, HostError> {
        container.delegate(in: screen.choices.view.scope)
    }

    func choices(of screen: String) -> ScreenChoices? {
        self.screen(screen).map { ScreenChoices(presentChoices(of: $0)) }
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        if let screen = self.screen(screen) { change(screen, asDelegate: edit) }
    }

    func message(_ text: String, on screen: String) { self.screen(screen)?.note(message: text) }

    func lead(_ screen: String, to container: String, item: String?) {
        guard Names.isName(container), item.map(ItemID.isNormal) ?? true else {
            return domain.logger.warning(
                "where a delegate leads is no container, or no item",
                metadata: [
                    "container": "\(self.container.name)", "to": "\(container.prefix(63))",
                ])
        }
        self.screen(screen)?.note(lead: ScreenLead(container: container, item: item))
    }
}
