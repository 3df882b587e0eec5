import AtriumKit
import Host

// Reads how front ends show items, and how lists are ordered.
extension DefinitionReader {
    /// Reads `present` of a container or of a list, for items with these fields.
    static func presentation(
        _ node: DefinitionNode, of fields: [Field]
    ) throws(DefinitionProblem) -> Presentation {
        let members = try node.members(known: ["title", "subtitle", "image", "columns"])
        var present = Presentation()
        // Derived dates are not stored in items, and details are not part of lists.
        let held = fields.filter { $0.type != .date && !$0.details }
        let shown = held.filter { $0.type != .image }.map(\.name)
        present.title = try members["title"].map { node throws(DefinitionProblem) in
            try name(node, among: shown, "a field that items in lists have, and no image")
        }
        present.subtitle = try members["subtitle"].map { node throws(DefinitionProblem) in
            try name(node, among: shown, "a field that items in lists have, and no image")
        }
        let images = held.filter { $0.type == .image }.map(\.name)
        present.image = try members["image"].map { node throws(DefinitionProblem) in
            try name(node, among: images, "a field of the type image without 'details'")
        }
        if let columns = members["columns"] {
            present.columns = try names(
                columns, among: held.map(\.name) + derived,
                "a field that items in lists have, or one derived")
        }
        return present
    }

    /// Reads whether a component is hidden, and the text for an empty list.
    static func readHiding(
        _ members: [String: DefinitionNode], into component: inout ComponentDefinition
    ) throws(DefinitionProblem) {
        if let hidden = members["hidden"] {
            let value = try hidden.value()
            guard value.bool != nil || value.text == "empty" else {
                throw hidden.unexpected("true, false or empty")
            }
            component.isHidden = value.bool ?? false
            component.hidesEmpty = value.text == "empty"
        }
        component.empty = try members["empty"]?.text()
        if let empty = members["empty"], component.hidesEmpty {
            throw empty.problem(
                "\(empty.path): nobody sees it, since 'hidden: empty' leaves the list out",
                hint: "take one of them away")
        }
    }

    /// Reads the order of a list, for items with these fields.
    static func order(
        _ node: DefinitionNode, of fields: [Field]
    ) throws(DefinitionProblem) -> [String] {
        let sorted = fields.filter { $0.type != .image }.map(\.name) + derived + ["id"]
        let order = try names(
            node, among: sorted + sorted.map { "-\($0)" }, "a field to sort by, perhaps after '-'",
            suggesting: sorted)
        guard order.count <= mostKeys else {
            throw node.problem(
                "\(node.path): \(order.count) fields, where \(mostKeys) are allowed")
        }
        return order
    }

    private static let derived = ["votes.score", "votes.count", "comments.count"]
    /// The default limit of sort fields for clients.
    private static let mostKeys = 16

    private static func names(
        _ node: DefinitionNode, among known: [String], _ expected: String,
        suggesting suggested: [String]? = nil
    ) throws(DefinitionProblem) -> [String] {
        var names: [String] = []
        for element in try node.elements() {
            let name = try name(element, among: known, expected, suggesting: suggested)
            if names.contains(name) {
                throw element.problem("\(element.path): '\(name)' is there twice")
            }
            names.append(name)
        }
        return names
    }

    private static func name(
        _ node: DefinitionNode, among known: [String], _ expected: String,
        suggesting suggested: [String]? = nil
    ) throws(DefinitionProblem) -> String {
        let name = try node.text()
        guard !known.contains(name) else { return name }
        let suggested = suggested ?? known
        throw node.problem(
            "\(node.path): expected \(expected), found '\(name)'",
            hint: nearestName(to: name, among: suggested).map { "did you mean '\($0)'?" }
                ?? (suggested.isEmpty
                    ? "none is declared" : "there are: \(suggested.joined(separator: ", "))"))
    }
}
