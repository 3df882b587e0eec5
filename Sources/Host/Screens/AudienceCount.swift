import NIOCore

/// Counts how many screens of a container show each component, and notifies the components of it.
///
/// A change of the screens or of the components schedules a count, at most one a second. A screen counts for a
/// component if its view shows it, and hidden parts count for none.
final class AudienceCount {
    /// Screens that show the same components.
    private struct Group: Hashable {
        let scope: String?
        let mode: ListMode
        let hidden: Set<String>
    }

    private unowned let screens: ContainerScreens
    /// When components were last notified.
    private var counted: NIODeadline?
    private var isScheduled = false

    init(of screens: ContainerScreens) { self.screens = screens }

    private var container: Container { screens.container }

    /// Schedules a new count after screens came, went or changed; components are notified at most once a second.
    func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let wait = (counted.map { $0 + ComponentSource.pace - .now() } ?? .zero)
        container.domain.timers.after(max(wait, .zero)) { [weak self] in
            guard let self else { return }
            isScheduled = false
            counted = .now()
            report()
        }
    }

    /// Schedules a new count after components came or changed; without screens they need none.
    func recount() { if !screens.shared.views.isEmpty { schedule() } }

    /// Recounts after parts may have been hidden or shown here: hidden parts have no audience.
    func recountParts() {
        guard !container.parts.isEmpty else { return }
        let homes = screens.table.homes()
        for name in Set(container.parts.compactMap(\.container)) { homes[name]?.audience.recount() }
    }

    /// Schedules a count for the parts of a screen that is about to hide these components.
    func schedule(forPartsOf screen: Screen, hiding hidden: Set<String>) {
        guard !screen.parts.isEmpty, hidden != screen.choices.view.hidden else { return }
        screen.forEachPart { $0.home?.audience.schedule() }
    }

    private func report() {
        var groups: [Group: Int] = [:]
        for view in screens.shared.views.values {
            let group = Group(
                scope: view.key.scope, mode: view.key.mode, hidden: view.key.hidden)
            groups[group, default: 0] += view.screens.values.count { $0.isLookedAt }
        }
        var counts: [String: Int] = [:]
        for (group, screens) in groups {
            // Includes lists that are left out because they are empty at present.
            for slot in container.scopes.slots(
                in: container.scopes[group.scope], group.mode)
            where !slot.isHidden(beside: group.hidden) {
                counts[slot.name, default: 0] += screens
            }
        }
        for slot in container.slots { slot.source.reportAudience(counts[slot.name] ?? 0) }
    }
}
