import PluginLoader

// Containers that are parts of this one, which screens show inside theirs.
extension Container {
    /// Whether the container has a component or a part of this name.
    func hasComponent(_ name: String) -> Bool {
        slot(name) != nil || parts.contains { $0.name == name }
    }

    func status(ofPart part: ComponentDefinition) -> ComponentStatus {
        let title = screens?.title(ofPart: part)
        return ComponentStatus(
            definition: part, title: title ?? part.title ?? part.name, isolation: .daemon,
            state: title == nil ? .failed : .attached,
            reason: title == nil ? part.absence : nil, isDamaged: false)
    }

    /// The parts whose container does not exist.
    var partFailures: [(what: String, reason: String)] {
        parts.filter { screens?.title(ofPart: $0) == nil }.map {
            ("component \($0.name)", "is not shown: \($0.absence)")
        }
    }
}

extension ComponentDefinition {
    /// Why a part is not shown whose container does not exist.
    var absence: String { "There is no container '\(container ?? "")'." }
}
