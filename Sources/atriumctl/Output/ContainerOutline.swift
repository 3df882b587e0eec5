import Interfaces
import Varlink

/// What a container's description has and its screens do not.
struct ContainerOutline: Equatable, Sendable {
    /// The scopes that show other lists inside an item, `""` for a container without scopes: every item leads inside there,
    /// whether or not it has children.
    var enters: Set<String> = []
    /// Of the containers within it, by component: their sections, each with that of this one whose selection it follows.
    var follows: [String: [String: String]] = [:]

    init() {}

    init(_ container: Container) {
        enters = Set((container.scopes ?? []).filter { $0.entered != nil }.map(\.name))
        if container.entered != nil { enters.insert("") }
        for component in container.components { follows[component.name] = component.follow }
    }
}

/// Outlines of a screen's containers, by name.
typealias ContainerOutlines = [String: ContainerOutline]

extension ScreenModel {
    /// The sections of a part that follow one of the container around, each with that: they are shown there already;
    /// the screen itself follows nothing.
    func followed(in part: String, of container: String, _ outlines: ContainerOutlines) -> [String:
        String]
    {
        let names = part.split(separator: "/").map(String.init)
        guard let name = names.last else { return [:] }
        let around = names.dropLast().joined(separator: "/")
        let place = around.isEmpty ? container : parts.first { $0.path == around }?.container
        return place.flatMap { outlines[$0]?.follows[name] } ?? [:]
    }

    /// Whether there is a list whose items filters count.
    var hasLists: Bool { components.isEmpty || components.contains { $0.kind == "contents" } }

    /// `closed for votes`; nil: it is open for votes and comments.
    var closed: String? {
        FactsText.closed(
            components.lazy.compactMap(\.votes).first { $0.closed == true },
            components.lazy.compactMap(\.comments).first { $0.closed == true })
    }
}

extension Session {
    /// Outlines of a container, and of those within it.
    func outlines(of container: Container) async throws -> ContainerOutlines {
        var outlines = [container.name: ContainerOutline(container)]
        var wanted = container.components.compactMap(\.container)
        while let name = wanted.popLast() {
            guard outlines[name] == nil else { continue }
            // A part whose container is missing has a problem, and no outline.
            let reply = try? await client.call(Containers.Describe.self, .init(container: name))
            guard let child = reply?.container else { continue }
            outlines[name] = ContainerOutline(child)
            wanted += child.components.compactMap(\.container)
        }
        return outlines
    }
}
