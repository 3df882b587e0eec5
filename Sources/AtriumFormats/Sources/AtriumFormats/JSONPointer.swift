public import JSONCodec

/// A place in a JSON value, as RFC 6901 writes it: `/films/0/title`; an empty one is the whole value.
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The members' names, and the elements' numbers, from the outermost on.
    public let steps: [String]

    /// Reads a pointer: empty, or steps that begin with `/` each, in which `~1` is `/` and `~0` is `~`; nil for what
    /// is none.
    public init?(_ text: String) {
        guard !text.isEmpty else {
            steps = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var steps: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let step = Self.unescape(part) else { return nil }
            steps.append(step)
        }
        self.steps = steps
    }

    /// Makes a pointer to a member of the whole value.
    public init(member name: String) { steps = [name] }

    /// The value at this place in a whole one, which may be `null`; nil where there is none.
    public func value(in value: JSONValue) -> JSONValue? {
        var value = value
        for step in steps {
            let next =
                switch value {
                case .object: value[step]
                case .array: Self.index(step).flatMap { value[$0] }
                default: nil as JSONValue?
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    /// The pointer as RFC 6901 writes it.
    public var description: String {
        steps.map { step in
            "/" + step.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
        }.joined()
    }

    private static func unescape(_ part: Substring) -> String? {
        var step = ""
        var isEscaped = false
        for scalar in part.unicodeScalars {
            switch (isEscaped, scalar) {
            case (true, "0"): step.unicodeScalars.append("~")
            case (true, "1"): step.unicodeScalars.append("/")
            case (true, _): return nil
            case (false, "~"): break
            case (false, _): step.unicodeScalars.append(scalar)
            }
            isEscaped = !isEscaped && scalar == "~"
        }
        return isEscaped ? nil : step
    }

    /// The number of an element: digits, and no zero before others.
    private static func index(_ step: String) -> Int? {
        guard step.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            step == "0" || step.utf8.first != 0x30
        else { return nil }
        return Int(step)
    }
}
