/// What is wrong with a component that a call names, or needs.
enum ComponentProblem {
    /// The kind of the components that calls of an error's interface are about; nil: any.
    static func kind(_ error: String) -> String? {
        let names = error.split(separator: ".")
        let interface = names.dropLast().last?.lowercased() ?? ""
        return ["contents", "filters", "votes", "comments"].contains(interface) ? interface : nil
    }

    /// What is missing; a daemon names the kind where the call named no component.
    static func sentence(_ container: String, _ component: String, _ kind: String?) -> String {
        let what =
            kind == component ? "component of the kind \(component)" : "component '\(component)'"
        return "the container '\(container)' has no \(what)"
            + (kind.map { $0 == component ? "" : " of the kind \($0)" } ?? "")
    }

    /// What there is instead of a component, of a kind if one is needed, that was not found; nil where there are no
    /// components.
    static func hint(
        _ wanted: String, _ kind: String?, among components: [(name: String, kind: String)]
    ) -> String? {
        guard !components.isEmpty else { return nil }
        let fit = components.filter { kind == nil || $0.kind == kind }.map(\.name)
        if let kind, let other = components.first(where: { $0.name == wanted }) {
            let instead = fit.isEmpty ? "there is none" : fit.joined(separator: ", ")
            return "'\(wanted)' is of the kind \(other.kind); this needs \(kind): \(instead)."
        }
        let nearest = wanted == kind ? nil : Nearest.name(to: wanted, in: fit)
        let names = components.map { "\($0.name) (\($0.kind))" }.joined(separator: ", ")
        return (nearest.map { "did you mean '\($0)'? Its" } ?? "its") + " components are: \(names)."
    }
}
