import Foundation
import JSONCodec
import Testing

/// Foundation's reader as the oracle: it may accept more than ours, but never less, and never another
/// value.
@Suite struct DifferentialTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `what we write Foundation reads back equal`(seed: UInt64) throws {
        var random = Random(seed: seed)
        for round in 0..<500 {
            let value = random.value(depth: 4)
            let text = JSON.encode(value)
            let theirs = try JSONSerialization.jsonObject(
                with: Data(text), options: .fragmentsAllowed)
            #expect(equal(value, theirs), "seed \(seed), round \(round)")
            #expect(try same(JSON.decode(from: text), value), "seed \(seed), round \(round)")
            let pretty = JSON.pretty(value)
            #expect(try same(JSON.decode(from: pretty), value), "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: [5, 6, 7, 8] as [UInt64])
    func `what we accept of broken texts Foundation accepts too, as the same value`(
        seed: UInt64
    ) throws {
        var random = Random(seed: seed)
        var accepted = 0
        for round in 0..<5_000 {
            var text = JSON.encode(random.value(depth: 3))
            for _ in 0...random.next(below: 3) { random.mutate(&text) }
            let ours = try? JSON.decode(JSONValue.self, from: text)
            // Skipping and reading are two ways through the grammar: they agree on every text.
            #expect((ours == nil) == (skipped(text) != nil), "seed \(seed), round \(round)")
            guard let ours else { continue }
            accepted += 1
            let theirs = try JSONSerialization.jsonObject(
                with: Data(text), options: .fragmentsAllowed)
            #expect(
                equal(ours, theirs),
                "seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 100, "the mutations leave too little to compare")
    }

    @Test(arguments: [9, 10] as [UInt64])
    func `numbers in any form are rounded as the standard library rounds them`(seed: UInt64) throws
    {
        var random = Random(seed: seed)
        for _ in 0..<5_000 {
            let digits = String(random.next() >> UInt64(random.next(below: 64)))
            let fraction = String(random.next() >> UInt64(random.next(below: 64)))
            let exponent = random.next(below: 60) - 30
            for text in [digits, "\(digits).\(fraction)", "-\(digits).\(fraction)e\(exponent)"] {
                #expect(try JSON.decode(Double.self, from: text) == Double(text), "\(text)")
            }
        }
    }

    /// Whether Foundation's tree means the same as ours.
    private func equal(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let value): return theirs as? Bool == value
        case .int(let value): return (theirs as? NSNumber)?.int64Value == value
        case .double(let value):
            return (theirs as? NSNumber).map { near($0.doubleValue, value) } ?? false
        case .string(let value):
            // As bytes: Swift holds canonically equivalent strings for equal.
            return (theirs as? String).map { Array($0.utf8) == Array(value.utf8) } ?? false
        case .array(let elements):
            guard let array = theirs as? [Any], array.count == elements.count else { return false }
            return zip(elements, array).allSatisfy { equal($0, $1) }
        case .object(let members):
            guard let object = theirs as? [String: Any] else { return false }
            // A dictionary holds canonically equivalent names for one.
            guard object.count == Set(members.map(\.name)).count else { return false }
            guard object.count == members.count else { return true }
            return members.allSatisfy { member in
                object[member.name].map { equal(member.value, $0) } ?? false
            }
        }
    }

    /// Whether both are the same number, but for the last digits.
    ///
    /// Foundation reads into decimal numbers, whose way to `Double` rounds more than once.
    private func near(_ left: Double, _ right: Double) -> Bool {
        left == right || abs(left - right) <= 1e-13 * abs(right)
    }

    /// Whether both are the same, an integral double being an integer.
    private func same(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.name == $1.name && same($0.value, $1.value) }
        case (.int, .double), (.double, .int): left.double == right.double
        default: left == right
        }
    }
}

/// Reproducible randomness (SplitMix64), and documents made of it.
private struct Random {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func next(below limit: Int) -> Int {
        Int(next() % UInt64(limit))
    }

    mutating func value(depth: Int) -> JSONValue {
        switch next(below: depth > 0 ? 8 : 5) {
        case 0: return [nil, true, false][next(below: 3)]
        case 1: return .int(Int64(truncatingIfNeeded: next() >> UInt64(next(below: 64))))
        case 2: return .double(double())
        case 3, 4: return .string(string())
        case 5: return .array((0..<next(below: 5)).map { _ in value(depth: depth - 1) })
        default:
            var object = JSONValue.object([])
            for _ in 0..<next(below: 6) { object[string()] = value(depth: depth - 1) }
            return object
        }
    }

    private mutating func double() -> Double {
        if next(below: 2) == 0 { return Double(next(below: 100_000)) / 100 }
        let value = Double(bitPattern: next())
        return value.isFinite ? value : 0.5
    }

    private mutating func string() -> String {
        let pieces = [
            "a", "id", "\"", "\\", "/", "\n", "\u{1}", "é", "e\u{301}", "€", "😀", " ", "7",
        ]
        return (0..<next(below: 8)).map { _ in pieces[next(below: pieces.count)] }.joined()
    }

    mutating func mutate(_ text: inout [UInt8]) {
        let bytes =
            Array(#"{}[],:"\u0e+-.19 truefalsn"#.utf8) + [0x0A, 0x00, 0x80, 0xC3, 0xED, 0xFF]
        let position = next(below: text.count + 1)
        let byte = bytes[next(below: bytes.count)]
        switch next(below: 4) {
        case 0: text.insert(byte, at: position)
        case 1 where position < text.count: text[position] = byte
        case 2 where position < text.count: text.remove(at: position)
        default:
            let other = next(below: text.count + 1)
            text.insert(contentsOf: text[min(position, other)..<max(position, other)], at: position)
        }
    }
}
