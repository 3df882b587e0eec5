import AtriumKit

// How screens show a component.
extension Slot {
    /// Whether screens leave it out while its list is empty; false until its items are known.
    var hidesEmpty: Bool { definition.hidesEmpty && isShown && !own.awaitsItems }

    /// Whether a screen that hides these components leaves it out.
    func isHidden(beside hidden: Set<String>) -> Bool {
        definition.isHidden || hidden.contains(name)
    }

    /// Which votes or comments it takes; the container may be closed for them.
    func facts(in container: ContainerDefinition) -> ComponentFacts? {
        switch facts {
        case .votes(var votes):
            votes.isClosed = container.closed.contains(.votes)
            return .votes(votes)
        case .comments(var comments):
            comments.isClosed = container.closed.contains(.comments)
            return .comments(comments)
        default: return facts
        }
    }

    /// The component as shown on a screen that hides these components.
    func view(
        hiding hidden: Set<String>, in container: ContainerDefinition
    ) -> ScreenComponent {
        let problem: String? =
            switch state {
            case .attached, .prepared:
                source.problem ?? (own.awaitsItems ? source.loadingReason : nil)
            case .closed: nil
            // Screens show everybody the same, so not how it failed.
            case .starting, .failed: absence.plainSentence
            }
        return ScreenComponent(
            name: name, kind: kind, container: nil, title: title,
            isHidden: isHidden(beside: hidden), problem: problem, facts: facts(in: container),
            present: kind == .contents ? definition.present ?? container.present : nil,
            sort: definition.sort, empty: definition.empty)
    }
}
