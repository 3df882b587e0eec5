/// The sum of the votes on one subject.
///
/// A host has one for each subject with votes, so the histogram is kept as text: a dictionary takes four times the
/// memory.
public struct Tally: Sendable, Hashable {
    /// The number of ballots.
    public var count: Int
    /// The ranking value; nil without ballots.
    public var score: Double?
    /// The histogram as the members of a JSON object, in the order of their names' bytes: `"4":1,"4.5":2`.
    public private(set) var histogramMembers: [UInt8]

    /// The number of ballots by value, which is written as on the wire: `"4"`, `"4.5"`.
    ///
    /// Each access makes a dictionary; ``forEachValue(_:)`` does not.
    public var histogram: [String: Int] {
        get {
            var histogram: [String: Int] = [:]
            forEachValue { histogram[$0] = $1 }
            return histogram
        }
        set { histogramMembers = Self.members(of: newValue) }
    }

    /// Creates a tally; by default of no ballots.
    public init(count: Int = 0, score: Double? = nil, histogram: [String: Int] = [:]) {
        self.count = count
        self.score = score
        histogramMembers = histogram.isEmpty ? [] : Self.members(of: histogram)
    }

    /// Creates a tally without making a dictionary.
    ///
    /// - Parameters:
    ///   - count: the number of ballots.
    ///   - score: the ranking value; nil without ballots.
    ///   - values: the number of distinct values.
    ///   - value: returns one of the values, by its place among them, and the number of its ballots.
    public init(
        count: Int, score: Double?, values: Int, value: (Int) -> (value: Double, count: Int)
    ) {
        self.count = count
        self.score = score
        let members = withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: values * MemberText.longest
        ) { memory -> [UInt8]? in
            var text = MemberText(memory)
            for place in 0..<values {
                let (value, count) = value(place)
                guard text.append(value, count) else { return nil }
            }
            return Array(text.bytes)
        }
        if let members {
            histogramMembers = members
        } else {
            // Values in another order than their texts, such as 9 and 10.
            let counts = (0..<values).map { place in
                let (value, count) = value(place)
                return (Value.number(value).plainText ?? "", count)
            }
            histogramMembers = Self.members(of: Dictionary(counts) { $0 + $1 })
        }
    }

    /// Calls the body with each value of the histogram and its number of ballots, in the order of the texts' bytes.
    public func forEachValue(
        _ body: (_ value: String, _ count: Int) throws -> Void
    ) rethrows {
        try histogramMembers.withUnsafeBufferPointer { text in
            var place = 0
            while place < text.count {
                if place > 0 { place += 1 }
                let start = place + 1
                var isEscaped = false
                place = start
                while text[place] != UInt8(ascii: "\"") {
                    let isEscape = text[place] == UInt8(ascii: "\\")
                    isEscaped = isEscaped || isEscape
                    place += isEscape ? 2 : 1
                }
                let name = UnsafeBufferPointer(rebasing: text[start..<place])
                place += 2
                let isNegative = text[place] == UInt8(ascii: "-")
                if isNegative { place += 1 }
                var count = 0
                while place < text.count, text[place] != UInt8(ascii: ",") {
                    // Below zero, where there is one more number.
                    count = count * 10 - Int(text[place] - UInt8(ascii: "0"))
                    place += 1
                }
                try body(
                    isEscaped ? Self.unescaped(name) : String(decoding: name, as: UTF8.self),
                    isNegative ? count : -count)
            }
        }
    }

    private static func members(of histogram: [String: Int]) -> [UInt8] {
        let sorted = histogram.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        var text: [UInt8] = []
        text.reserveCapacity(
            sorted.reduce(0) { $0 + $1.key.utf8.count + "\($1.value)".utf8.count + 4 })
        for (name, count) in sorted {
            if !text.isEmpty { text.append(UInt8(ascii: ",")) }
            text.append(UInt8(ascii: "\""))
            for byte in name.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
                case ..<0x20: text += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
                default: text.append(byte)
                }
            }
            text += "\":\(count)".utf8
        }
        return text
    }

    private static func unescaped(_ name: UnsafeBufferPointer<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = name[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            guard escaped == UInt8(ascii: "u") else {
                bytes.append(escaped)
                continue
            }
            let digits = String(decoding: rest.prefix(4), as: UTF8.self)
            rest = rest.dropFirst(4)
            bytes.append(UInt8(digits, radix: 16) ?? 0)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The members of a histogram whose values are numbers, as they are written one after the other.
private struct MemberText {
    /// The maximum length of a member, with its comma.
    static let longest = 48

    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var end = 0
    /// Where the last member's name is.
    private var last = 0..<0

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    var bytes: Slice<UnsafeMutableBufferPointer<UInt8>> { memory[..<end] }

    /// Appends a member; false: its name does not come after the last one's.
    mutating func append(_ value: Double, _ count: Int) -> Bool {
        if end > 0 { append(UInt8(ascii: ",")) }
        append(UInt8(ascii: "\""))
        let start = end
        // Nearly all values are one digit.
        if value >= 0, value < 10, value == value.rounded(.down) {
            append(UInt8(ascii: "0") + UInt8(value))
        } else {
            for byte in (Value.number(value).plainText ?? "").utf8 { append(byte) }
        }
        let name = start..<end
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
        append(count)
        defer { last = name }
        return last.isEmpty || memory[last].lexicographicallyPrecedes(memory[name])
    }

    private mutating func append(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        let start = end
        var rest = number.magnitude
        repeat {
            append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        memory[start..<end].reverse()
    }

    private mutating func append(_ byte: UInt8) {
        memory.initializeElement(at: end, to: byte)
        end += 1
    }
}

extension Tally: Codable {
    private enum CodingKeys: CodingKey {
        case count, score, histogram
    }

    /// Decodes an object with the parts by name.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            count: try container.decode(Int.self, forKey: .count),
            score: try container.decodeIfPresent(Double.self, forKey: .score),
            histogram: try container.decode([String: Int].self, forKey: .histogram))
    }

    /// Encodes an object with the parts by name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encodeIfPresent(score, forKey: .score)
        try container.encode(histogram, forKey: .histogram)
    }
}
