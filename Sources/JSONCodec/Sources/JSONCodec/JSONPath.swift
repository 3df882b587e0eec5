/// The path from the document to a place in it, found by parsing the text once more.
///
/// Reading does not keep track of the path, so only an error pays for it.
struct JSONPath: CustomStringConvertible {
    private enum Step {
        /// A member of an object; nil before the name of the next member is known.
        case member(String?)
        case element(Int)
    }

    private var steps: [Step] = []

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
                steps.append(.member(nil))
                awaitsName = true
            case UInt8(ascii: "["):
                steps.append(.element(0))
                awaitsName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = steps.popLast()
                awaitsName = false
            case UInt8(ascii: ","):
                awaitsName = advance()
            case UInt8(ascii: "\""):
                let text = Self.scanString(in: bytes, from: position, to: end)
                position = min(position + text.count + 1, end)
                if awaitsName { steps[steps.count - 1] = .member(Self.string(text)) }
                awaitsName = false
            default:
                break
            }
        }
    }

    /// The name of the outermost member on the way; nil when there is none.
    var outermostMember: String? {
        for case .member(let name?) in steps { return name }
        return nil
    }

    var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .member(nil): break
            case .member(let name?): text += text.isEmpty ? name : "." + name
            case .element(let index): text += "[\(index)]"
            }
        }
        return text
    }

    /// This path, one member further.
    func appending(_ member: String) -> JSONPath {
        var path = self
        if case .member(nil)? = path.steps.last { path.steps.removeLast() }
        path.steps.append(.member(member))
        return path
    }

    /// Moves past a comma; returns whether the name of a member comes next.
    private mutating func advance() -> Bool {
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
        var position = start
        while position < end, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return bytes[start..<min(position, end)]
    }

    /// The string, whatever its bytes are: the text may have been refused in the middle of it.
    private static func string(_ bytes: JSONBytes) -> String {
        String(decoding: JSONEscapes.resolve(bytes), as: UTF8.self)
    }
}
