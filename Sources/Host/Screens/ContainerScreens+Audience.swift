import NIOCore

/// Screens that show the same components.
private struct Audience: Hashable {
    let scope: String?
    let mode: ListMode
    let hidden: Set<String>
}

// How many screens show each component.
extension ContainerScreens {
    /// Screens came or went, or show something else: components are told soon, and then at most once a second.
    func audienceChanged() {
        guard !screening.isCounting else { return }
        screening.isCounting = true
        let wait = (screening.counted.map { $0 + SourceState.pace - .now() } ?? .zero)
        domain.after(max(wait, .zero)) { [weak self] in
            guard let self else { return }
            screening.isCounting = false
            screening.counted = .now()
            tellAudience()
        }
    }

    func countAudience() { if !screening.views.isEmpty { audienceChanged() } }

    private func tellAudience() {
        var audiences: [Audience: Int] = [:]
        for view in screening.views.values {
            let audience = Audience(
                scope: view.key.scope, mode: view.key.mode, hidden: view.key.hidden)
            audiences[audience, default: 0] += view.screens.count
        }
        var counts: [String: Int] = [:]
        for (audience, screens) in audiences {
            // Also a list that has nothing at present, which is left out until it has.
            for slot in container.slots(in: container.scope(audience.scope), audience.mode)
            where !slot.isHidden(beside: audience.hidden) {
                counts[slot.name, default: 0] += screens
            }
        }
        for slot in container.slots { slot.tellAudience(counts[slot.name] ?? 0) }
    }
}
