import AtriumKit

/// What a screen shows whose container has others as parts, by the rules alone.
struct PartModel {
    /// A screen, or a part of one: what was chosen there.
    final class Node {
        let container: String
        var selection: Set<String>
        var search = ""
        var hidden: Set<String> = []
        /// What was selected around it when it last followed that.
        fileprivate var followed: Set<String>
        fileprivate var parts: [(name: String, node: Node)] = []

        fileprivate init(_ container: String, following selection: Set<String> = []) {
            self.container = container
            (self.selection, followed) = (selection, selection)
        }
    }

    /// A part in a definition; it has the name of its container.
    struct Entry {
        var name: String
        var hidesEmpty = false
    }

    let root: Node
    /// The genres of items, by container and id.
    var items: [String: [String: Set<String>]] = [:]
    private var entries: [String: [Entry]] = [:]

    init(of container: String) { root = Node(container) }

    /// The screen, or a part of it at a path; nil: there is none.
    func node(_ path: String) -> Node? {
        path.split(separator: "/").reduce(root as Node?) { node, name in
            node?.parts.first { $0.name == name }?.node
        }
    }

    /// A container has these parts from now on.
    mutating func define(_ container: String, _ parts: [Entry]) {
        entries[container] = parts
        arrange(root)
    }

    /// What is not there any more goes with what was chosen on it, and what is new follows at once.
    private func arrange(_ node: Node) {
        let known = node.parts
        node.parts = (entries[node.container] ?? []).map { entry in
            known.first { $0.name == entry.name }
                ?? (entry.name, Node(entry.name, following: node.selection))
        }
        for part in node.parts { arrange(part.node) }
    }

    /// Something was selected on a screen or a part: its parts get the same where it is another selection.
    func lead(from node: Node) {
        for (_, part) in node.parts where part.followed != node.selection {
            (part.selection, part.followed) = (node.selection, node.selection)
            lead(from: part)
        }
    }

    /// The items that each part shows, by its path.
    var shown: [String: [String]] { shown(within: root, "") }

    private func shown(within node: Node, _ path: String) -> [String: [String]] {
        var all: [String: [String]] = [:]
        for (name, part) in node.parts where !node.hidden.contains(name) {
            let path = path.isEmpty ? name : "\(path)/\(name)"
            let inner = shown(within: part, path)
            let ids = ids(of: part)
            let entry = entries[node.container]?.first { $0.name == name }
            // What somebody works on stays, for that to be undone.
            let isWorkedOn = !part.search.isEmpty || !part.hidden.isEmpty
            if entry?.hidesEmpty == true, inner.isEmpty, ids.isEmpty, !isWorkedOn { continue }
            all[path] = ids
            all.merge(inner) { $1 }
        }
        return all
    }

    /// The items that a screen or a part shows, in order.
    func ids(of node: Node) -> [String] {
        (items[node.container] ?? [:]).filter { id, genres in
            (node.selection.isEmpty || !node.selection.isDisjoint(with: genres))
                && (node.search.isEmpty || "the \(id)".contains(node.search))
        }.keys.sorted()
    }
}
