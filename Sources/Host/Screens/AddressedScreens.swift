import AtriumKit
import Index
import Logging

/// A container's screens as delegates and events refer to them, by id.
///
/// An id may be that of a part. The delegate of a container around a part reads and changes the part's choices, too.
struct AddressedScreens {
    let screens: ContainerScreens

    private var table: ScreenTable { screens.table }

    /// The container's screen with this id, or a part that shows the container.
    private func screen(_ id: String) -> Screen? {
        let screen = table[ScreenID(id)] ?? table.parts[ScreenID(id)]
        return screen.flatMap { $0.home === screens ? $0 : nil }
    }

    /// A screen of the container or a part of it, at any level, with the screens of its own container.
    private func reach(_ id: String) -> (home: ContainerScreens, screen: Screen)? {
        guard let screen = table[ScreenID(id)] ?? table.parts[ScreenID(id)], let home = screen.home
        else { return nil }
        var around: Screen? = screen
        while let outer = around {
            if outer.home === screens { return (home, screen) }
            around = outer.partState?.parent
        }
        return nil
    }
}

// MARK: Calls of delegates

extension AddressedScreens: ScreensByID {
    func scope(on screen: String) -> String? { self.screen(screen)?.choices.view.scope }

    func delegate(on screen: String) -> Result<ContainerDelegate, HostError>? {
        self.screen(screen).map { screens.delegation.delegate(on: $0) }
    }

    func choices(of screen: String) -> ScreenChoices? {
        reach(screen).map { ScreenChoices($0.home.placement.choices(of: $0.screen)) }
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        if let (home, screen) = reach(screen) { home.delegation.change(screen, edit) }
    }

    func message(_ text: String, on screen: String) {
        self.screen(screen)?.send(message: text)
    }

    func navigate(_ screen: String, to container: String, item: String?) {
        guard Names.isName(container), item.map(ItemID.isNormal) ?? true else {
            return screens.domain.logger.warning(
                "a delegate leads to an invalid container name or item id",
                metadata: [
                    "container": "\(screens.container.name)", "to": "\(container.prefix(63))",
                ])
        }
        self.screen(screen)?.send(
            navigation: NavigationTarget(container: container, item: item))
    }

    func deferMessages(for event: ComponentEvent) -> MessageDeferral? {
        guard event.selects else { return nil }
        return event.screen.flatMap { screen($0) }?.deferMessages()
    }

    func showUnasked(_ event: ComponentEvent, ending deferral: MessageDeferral?) {
        let selection: Selection
        switch event {
        case .didSelect(_, _, let now, _), .didDeselect(_, _, let now, _): selection = now
        case .didClear: selection = Selection()
        default: return
        }
        guard let screen = event.screen.flatMap({ self.screen($0) }) else { return }
        screens.choosing.choose(screen) {
            $0.view.selection = selection
        } then: { _ in
            if let deferral { screen.endDeferral(deferral) }
        }
    }
}

extension ComponentEvent {
    /// Whether the event changes a selection.
    fileprivate var selects: Bool {
        switch self {
        case .didSelect, .didDeselect, .didClear: true
        default: false
        }
    }
}
