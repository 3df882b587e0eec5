import AtriumKit
import Index
import Logging

/// A container's screens as delegates refer to them, by id.
///
/// An id may be that of a part. The delegate of a container around a part reads and changes the part's choices, too.
struct AddressedScreens {
    let screens: ContainerScreens

    private var table: ScreenTable { screens.table }

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

extension AddressedScreens: ScreensByID {
    func choices(of screen: String) -> ScreenChoices? {
        reach(screen).map { ScreenChoices($0.home.placement.choices(of: $0.screen)) }
    }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        if let (home, screen) = reach(screen) { home.delegation.change(screen, edit) }
    }

    func message(_ text: String, on screen: String) {
        table.find(screen, on: screens)?.send(message: text)
    }

    func navigate(_ screen: String, to container: String, item: String?) {
        guard Names.isName(container), item.map(ItemID.isNormal) ?? true else {
            return screens.domain.logger.warning(
                "a delegate leads to an invalid container name or item id",
                metadata: [
                    "container": "\(screens.container.name)", "to": "\(container.prefix(63))",
                ])
        }
        table.find(screen, on: screens)?.send(
            navigation: NavigationTarget(container: container, item: item))
    }
}
