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

    /// Parts of screens may be hidden here, or shown: nobody looks at one that is hidden.
    func countPartAudiences() {
        guard !container.parts.isEmpty else { return }
        let homes = table.homes()
        for name in Set(container.parts.compactMap(\.container)) { homes[name]?.countAudience() }
    }

    /// A screen is about to leave out these components: parts of it may be hidden then, or shown again.
    func countAudience(ofPartsOf screen: Screen, hiding hidden: Set<String>) {
        guard !screen.parts.isEmpty, hidden != screen.choices.view.hidden else { return }
        screen.forEachPart { $0.home?.audienceChanged() }
    }

    private func tellAudience() {
        var audiences: [Audience: Int] = [:]
        for view in screening.views.values {
            let audience = Audience(
                scope: view.key.scope, mode: view.key.mode, hidden: view.key.hidden)
            audiences[audience, default: 0] += view.screens.values.count { $0.isLookedAt }
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
