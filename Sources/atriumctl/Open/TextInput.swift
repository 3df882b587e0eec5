/// A text while it is typed.
struct TextInput: Equatable {
    private(set) var before: [Character]
    private(set) var after: [Character] = []
    /// Whether the enter key begins a new line, as while something is pasted.
    private var isPasting = false
    private let hasLines: Bool

    /// What a key did.
    enum Outcome {
        case changed
        case moved
        case accepted
        case dropped
        case ignored
    }

    init(_ text: String = "", hasLines: Bool = false) {
        before = Array(text)
        self.hasLines = hasLines
    }

    var text: String { String(before) + String(after) }

    mutating func press(_ key: Key) -> Outcome {
        switch key {
        case .pasteStart, .pasteEnd:
            isPasting = key == .pasteStart
            return .ignored
        case .character(let character): return insert(character)
        case .text(let characters):
            for character in characters {
                switch character {
                case "\n": _ = insert(hasLines ? "\n" : " ")
                case "\t": _ = insert(" ")
                default: _ = insert(character)
                }
            }
            return .changed
        case .enter where isPasting, .control("j") where isPasting:
            return insert(hasLines ? "\n" : " ")
        case .control("j") where hasLines: return insert("\n")
        case .tab where isPasting: return insert(" ")
        case .escape where isPasting, .control where isPasting: return .ignored
        case .enter, .control("j"): return .accepted
        case .escape, .control("g"): return .dropped
        case .backspace, .control("h"): return before.popLast() == nil ? .ignored : .changed
        case .delete, .control("d"):
            guard !after.isEmpty else { return .ignored }
            after.removeFirst()
            return .changed
        default: return edit(key)
        }
    }

    private mutating func edit(_ key: Key) -> Outcome {
        switch key {
        case .left, .control("b"):
            if let last = before.popLast() { after.insert(last, at: 0) }
        case .right, .control("f"):
            if !after.isEmpty { before.append(after.removeFirst()) }
        case .home, .control("a"): (before, after) = ([], before + after)
        case .end, .control("e"): (before, after) = (before + after, [])
        case .control("u"):
            before = []
            return .changed
        case .control("k"):
            after = []
            return .changed
        case .control("w"):
            while before.last == " " { before.removeLast() }
            while let last = before.last, last != " ", last != "\n" { before.removeLast() }
            return .changed
        default: return .ignored
        }
        return .moved
    }

    private mutating func insert(_ character: Character) -> Outcome {
        // A mark that belongs to what stands before is one sign with it.
        let joined = before.last.map { "\($0)\(character)" }
        if let joined, joined.count == 1, let one = joined.first {
            before[before.count - 1] = one
        } else {
            before.append(character)
        }
        return .changed
    }
}
