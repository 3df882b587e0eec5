import AtriumKit
import Yams

/// A node of a definition's YAML, with its place for error messages.
struct DefinitionNode {
    let node: Node
    let file: String
    /// The path in terms of the format, such as `components[1].settings`; empty for the document.
    let path: String
    let budget: Budget

    /// The number of values that may still be visited in a text: with aliases a short one could expand without end.
    final class Budget {
        private var left = 100_000

        /// Takes values away; throws if there are not as many.
        func take(_ count: Int, at node: DefinitionNode) throws(DefinitionProblem) {
            left -= count
            guard left >= 0 else {
                throw node.problem("more than 100,000 values in one file, counted at each alias")
            }
        }
    }

    /// The node of another one's key, element or member.
    private func node(_ node: Node, path: String) -> DefinitionNode {
        DefinitionNode(node: node, file: file, path: path, budget: budget)
    }

    /// The node's line, from 1.
    var line: Int { node.mark?.line ?? 1 }

    /// Whether the node is empty or has only comments.
    var isNothing: Bool { node.scalar.map { $0.style == .plain && $0.string.isEmpty } ?? false }

    func problem(_ reason: String, hint: String? = nil) -> DefinitionProblem {
        DefinitionProblem(
            file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1,
            reason: reason, hint: hint)
    }

    /// The members of a mapping; throws if a key is not known.
    func members(known: [String]) throws(DefinitionProblem) -> [String: DefinitionNode] {
        var members: [String: DefinitionNode] = [:]
        for (key, member) in try pairs() {
            guard known.contains(key.name) else {
                let nearest = nearestName(to: key.name, among: known)
                throw key.node.problem(
                    "unknown key '\(key.name)'" + (path.isEmpty ? "" : " in \(path)"),
                    hint: nearest.map { "did you mean '\($0)'?" }
                        ?? "known are: \(known.joined(separator: ", "))")
            }
            members[key.name] = member
        }
        return members
    }

    /// The members of a mapping in the order of the text.
    func pairs() throws(DefinitionProblem) -> [(
        key: (name: String, node: DefinitionNode), value: DefinitionNode
    )] {
        guard case .mapping(let mapping) = node else { throw unexpected("a mapping") }
        var pairs: [(key: (name: String, node: DefinitionNode), value: DefinitionNode)] = []
        try budget.take(mapping.count, at: self)
        for (key, value) in mapping {
            let keyNode = self.node(key, path: path)
            let name = try keyNode.keyName()
            let place = path.isEmpty ? name : "\(path).\(name)"
            pairs.append(((name, keyNode), self.node(value, path: place)))
        }
        return pairs
    }

    /// A key as it is written: a key is always text.
    private func keyName() throws(DefinitionProblem) -> String {
        guard let scalar = node.scalar else { throw problem("a key must be a word") }
        return scalar.string
    }

    /// The elements of a sequence.
    func elements() throws(DefinitionProblem) -> [DefinitionNode] {
        guard case .sequence(let sequence) = node else { throw unexpected("a list") }
        try budget.take(sequence.count, at: self)
        return sequence.enumerated().map { self.node($1, path: "\(path)[\($0)]") }
    }

    /// Text as it is written, where nothing else can be meant: also `n`, `on` or `2024` without quotes.
    func text() throws(DefinitionProblem) -> String {
        guard let scalar = node.scalar, scalar.style != .plain || !PlainScalar.isNull(scalar.string)
        else { throw unexpected("text", hint: "quote it") }
        return scalar.string
    }

    /// One of the cases of an enumeration.
    func choice<Word: RawRepresentable & CaseIterable>(
        _ type: Word.Type
    ) throws(DefinitionProblem) -> Word where Word.RawValue == String {
        let written = try text()
        if let word = Word(rawValue: written) { return word }
        let known = Word.allCases.map(\.rawValue)
        throw problem(
            "\(path): expected one of \(known.joined(separator: ", ")), found '\(written)'",
            hint: nearestName(to: written, among: known).map { "did you mean '\($0)'?" })
    }

    /// True or false.
    func bool() throws(DefinitionProblem) -> Bool {
        guard let bool = try value().bool else { throw unexpected("true or false") }
        return bool
    }

    func number() throws(DefinitionProblem) -> Double {
        guard let number = try value().number else { throw unexpected("a number") }
        return number
    }

    /// The whole subtree as a value.
    func value() throws(DefinitionProblem) -> Value {
        switch node {
        case .scalar(let scalar):
            return try scalarValue(scalar)
        case .sequence:
            var list: [Value] = []
            for element in try elements() { list.append(try element.value()) }
            return .list(list)
        case .mapping:
            var object: [String: Value] = [:]
            for (key, member) in try pairs() {
                object[key.name] = try member.value()
            }
            return .object(object)
        case .alias:
            throw problem("an alias to nothing")
        }
    }

    private func scalarValue(_ scalar: Node.Scalar) throws(DefinitionProblem) -> Value {
        guard scalar.style == .plain else { return .text(scalar.string) }
        do {
            return try PlainScalar.value(of: scalar.string)
        } catch {
            throw problem(error.reason, hint: error.hint)
        }
    }

    /// A problem that names what was expected and what was found.
    func unexpected(_ expected: String, hint: String? = nil) -> DefinitionProblem {
        let found =
            switch node {
            case .scalar(let scalar): scalar.string.isEmpty ? "nothing" : "'\(scalar.string)'"
            case .mapping: "a mapping"
            case .sequence: "a list"
            case .alias: "an alias"
            }
        let place = path.isEmpty ? "the document" : path
        return problem("\(place): expected \(expected), found \(found)", hint: hint)
    }
}
