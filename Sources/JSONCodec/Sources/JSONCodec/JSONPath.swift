/// The path from the document to a place in it, found by parsing the text once more.
///
/// Reading does not keep track of the path, so only an error pays for it. It has at most ``mostSteps`` steps, and names
/// of at most ``longestName`` bytes: a text of nothing but brackets would have millions.
struct JSONPath: CustomStringConvertible {
    private static let mostSteps = 64
    private static let longestName = 120

    private enum Step {
        /// A member of an object; nil before the name of the next member is known.
        case member(JSONBytes?)
        case element(Int)
    }

    /// The outermost steps.
    private var steps: [Step] = []
    /// How many steps lie further inside.
    private var omitted = 0
    /// The name of a member inside of the value that the steps lead to.
    private var inner: String?

    /// Creates the path of the value that begins, or has just ended, at `offset`.
    ///
    /// Everything before `offset` has been read and found well formed; if it is not, the path may be wrong, but nothing
    /// worse happens.
    init(in bytes: JSONBytes, at offset: Int) {
        var position = 0
        var awaitsName = false
        let end = min(offset, bytes.count)
        while position < end {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "{"):
                enter(.member(nil))
                awaitsName = true
            case UInt8(ascii: "["):
                enter(.element(0))
                awaitsName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if omitted > 0 { omitted -= 1 } else { _ = steps.popLast() }
                awaitsName = false
            case UInt8(ascii: ","):
                awaitsName = advance()
            case UInt8(ascii: "\""):
                let text = Self.scanString(in: bytes, from: position, to: end)
                position = min(position + text.count + 1, end)
                if awaitsName, omitted == 0 { steps[steps.count - 1] = .member(text) }
                awaitsName = false
            default:
                break
            }
        }
    }

    /// The name of the outermost member on the way; nil when there is none.
    var outermostMember: String? {
        for case .member(let name?) in steps { return Self.name(name) }
        return inner
    }

    var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .member(nil): break
            case .member(let name?): text += (text.isEmpty ? "" : ".") + Self.name(name)
            case .element(let index): text += "[\(index)]"
            }
        }
        if omitted > 0 { text += "…" }
        if let inner { text += (text.isEmpty ? "" : ".") + inner }
        return text
    }

    /// This path, one member further.
    func appending(_ member: String) -> JSONPath {
        var path = self
        path.inner = member
        return path
    }

    /// A member's name without its escapes; a long one is cut.
    static func name(_ bytes: JSONBytes) -> String {
        let shown = bytes[0..<min(bytes.count, longestName)]
        // It may be cut within a character or an escape, and a refused text may be no UTF-8.
        let name = String(decoding: JSONEscapes.resolve(shown), as: UTF8.self)
        return shown.count < bytes.count ? name + "…" : name
    }

    private mutating func enter(_ step: Step) {
        if steps.count < Self.mostSteps { steps.append(step) } else { omitted += 1 }
    }

    /// Moves past a comma; returns whether the name of a member comes next.
    private mutating func advance() -> Bool {
        guard omitted == 0 else { return false }
        switch steps.popLast() {
        case .element(let index)?:
            steps.append(.element(index + 1))
            return false
        case .member?:
            steps.append(.member(nil))
            return true
        case nil:
            return false
        }
    }

    /// Returns the bytes between the quotes of the string that begins at `start`; it ends before `end` at the latest.
    private static func scanString(
        in bytes: JSONBytes, from start: Int, to end: Int
    ) -> JSONBytes {
        var position = bytes.endOfUnescapedText(from: start)
        while position < end, bytes[position] != UInt8(ascii: "\"") {
            let next = position + (bytes[position] == UInt8(ascii: "\\") ? 2 : 1)
            position = bytes.endOfUnescapedText(from: min(next, end))
        }
        return bytes[start..<min(position, end)]
    }
}
