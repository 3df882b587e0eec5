import NIOCore

/// Screens that show the same components.
private struct Audience: Hashable {
    let scope: String?
    let mode: ListMode
    let hidden: Set<String>
}

// Counts how many screens show each component.
extension ContainerScreens {
    /// Schedules a new count after screens came, went or changed; components are notified at most once a second.
    func audienceChanged() {
        guard !screening.isCounting else { return }
        screening.isCounting = true
        let wait = (screening.counted.map { $0 + SourceState.pace - .now() } ?? .zero)
        domain.after(max(wait, .zero)) { [weak self] in
            guard let self else { return }
            screening.isCounting = false
            screening.counted = .now()
            reportAudience()
        }
    }

    func countAudience() { if !screening.views.isEmpty { audienceChanged() } }

    /// Recounts after parts may have been hidden or shown here: hidden parts have no audience.
    func countPartAudiences() {
        guard !container.parts.isEmpty else { return }
        let homes = table.homes()
        for name in Set(container.parts.compactMap(\.container)) { homes[name]?.countAudience() }
    }

    /// Schedules a count for the parts of a screen that is about to hide these components.
    func countAudience(ofPartsOf screen: Screen, hiding hidden: Set<String>) {
        guard !screen.parts.isEmpty, hidden != screen.choices.view.hidden else { return }
        screen.forEachPart { $0.home?.audienceChanged() }
    }

    private func reportAudience() {
        var audiences: [Audience: Int] = [:]
        for view in screening.views.values {
            let audience = Audience(
                scope: view.key.scope, mode: view.key.mode, hidden: view.key.hidden)
            audiences[audience, default: 0] += view.screens.values.count { $0.isLookedAt }
        }
        var counts: [String: Int] = [:]
        for (audience, screens) in audiences {
            // Includes lists that are left out because they are empty at present.
            for slot in container.slots(in: container.scope(audience.scope), audience.mode)
            where !slot.isHidden(beside: audience.hidden) {
                counts[slot.name, default: 0] += screens
            }
        }
        for slot in container.slots { slot.reportAudience(counts[slot.name] ?? 0) }
    }
}
