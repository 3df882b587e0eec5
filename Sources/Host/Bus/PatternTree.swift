/// Patterns of topics, by their words: who has one that a topic matches is found without a look at the
/// others, of which there may be hundreds of thousands.
final class PatternTree<Owner: AnyObject> {
    private var next: [Substring: PatternTree] = [:]
    /// What follows a `*` here.
    private var any: PatternTree?
    /// Whose patterns end here.
    private var owners: [ObjectIdentifier: Owner] = [:]
    /// Whose patterns end here with a `>`.
    private var further: [ObjectIdentifier: Owner] = [:]

    var isEmpty: Bool {
        next.isEmpty && any == nil && owners.isEmpty && further.isEmpty
    }

    /// Adds a pattern of an owner's; a second time it does nothing.
    func insert(_ pattern: TopicPattern, of owner: Owner) {
        insert(pattern.text[...], owner)
    }

    /// Removes a pattern of an owner's.
    func remove(_ pattern: TopicPattern, of owner: Owner) {
        remove(pattern.text[...], owner)
    }

    /// Adds each owner that has a pattern which a topic matches, once however many it has.
    func find(_ topic: String, _ found: inout [ObjectIdentifier: Owner]) {
        find(topic[...], &found)
    }

    private func insert(_ words: Substring, _ owner: Owner) {
        let (word, rest) = words.cut
        if word == ">" {
            further[ObjectIdentifier(owner)] = owner
            return
        }
        let node: PatternTree
        if word == "*" {
            node = any ?? PatternTree()
            any = node
        } else {
            node = next[word] ?? PatternTree()
            next[word] = node
        }
        if let rest {
            node.insert(rest, owner)
        } else {
            node.owners[ObjectIdentifier(owner)] = owner
        }
    }

    private func remove(_ words: Substring, _ owner: Owner) {
        let (word, rest) = words.cut
        if word == ">" {
            further[ObjectIdentifier(owner)] = nil
            return
        }
        guard let node = word == "*" ? any : next[word] else { return }
        if let rest {
            node.remove(rest, owner)
        } else {
            node.owners[ObjectIdentifier(owner)] = nil
        }
        guard node.isEmpty else { return }
        if word == "*" { any = nil } else { next[word] = nil }
    }

    private func find(_ words: Substring, _ found: inout [ObjectIdentifier: Owner]) {
        found.merge(further) { one, _ in one }
        let (word, rest) = words.cut
        for node in [next[word], any] {
            guard let node else { continue }
            if let rest {
                node.find(rest, &found)
            } else {
                found.merge(node.owners) { one, _ in one }
            }
        }
    }
}

extension Substring {
    /// The first word, and what follows its dot; nil: it is the last.
    fileprivate var cut: (word: Substring, rest: Substring?) {
        guard let dot = utf8.firstIndex(of: UInt8(ascii: ".")) else { return (self, nil) }
        return (self[..<dot], self[utf8.index(after: dot)...])
    }
}
