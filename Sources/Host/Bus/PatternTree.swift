/// An index of topic patterns by their words, from which the owners of a topic's matching patterns are looked up.
///
/// A look-up doesn't visit the other patterns, of which there may be hundreds of thousands.
final class PatternTree<Owner: AnyObject> {
    private var next: [Substring: PatternTree] = [:]
    /// The subtree of a `*` in this place.
    private var any: PatternTree?
    /// The owners of patterns that end here.
    private var owners: [Owner] = []
    /// The owners of patterns that end here with a `>`.
    private var further: [Owner] = []

    var isEmpty: Bool { next.isEmpty && any == nil && owners.isEmpty && further.isEmpty }

    /// Adds an owner's pattern; the owner must not have it already.
    func insert(_ pattern: TopicPattern, of owner: Owner) {
        insert(pattern.text[...], owner)
    }

    func remove(_ pattern: TopicPattern, of owner: Owner) {
        remove(pattern.text[...], owner)
    }

    /// Returns the owners of patterns that match a topic, each once.
    func owners(of topic: String) -> [Owner] {
        var found: [Owner] = []
        find(topic[...], &found)
        guard found.count > 1 else { return found }
        var seen: Set<ObjectIdentifier> = []
        return found.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    private func insert(_ words: Substring, _ owner: Owner) {
        let (word, rest) = words.cut
        if word == ">" { return further.append(owner) }
        let node: PatternTree
        if word == "*" {
            node = any ?? PatternTree()
            any = node
        } else {
            node = next[word] ?? PatternTree()
            next[word] = node
        }
        if let rest { node.insert(rest, owner) } else { node.owners.append(owner) }
    }

    private func remove(_ words: Substring, _ owner: Owner) {
        let (word, rest) = words.cut
        if word == ">" { return further.removeAll { $0 === owner } }
        guard let node = word == "*" ? any : next[word] else { return }
        if let rest {
            node.remove(rest, owner)
        } else {
            node.owners.removeAll { $0 === owner }
        }
        guard node.isEmpty else { return }
        if word == "*" { any = nil } else { next[word] = nil }
    }

    private func find(_ words: Substring, _ found: inout [Owner]) {
        found.append(contentsOf: further)
        let (word, rest) = words.cut
        next[word]?.collect(rest, &found)
        any?.collect(rest, &found)
    }

    private func collect(_ rest: Substring?, _ found: inout [Owner]) {
        if let rest { find(rest, &found) } else { found.append(contentsOf: owners) }
    }
}

extension Substring {
    /// The first word, and what follows its dot; nil: it is the last word.
    fileprivate var cut: (word: Substring, rest: Substring?) {
        guard let dot = utf8.firstIndex(of: UInt8(ascii: ".")) else { return (self, nil) }
        return (self[..<dot], self[utf8.index(after: dot)...])
    }
}
