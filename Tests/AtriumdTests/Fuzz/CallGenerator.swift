import Foundation
import TestSupport
import VarlinkIDL

/// Makes up calls of a method from its definition: of the right types, and with values that nobody sends.
///
/// The same seed makes the same calls, as long as what it learnt from replies is the same.
struct CallGenerator {
    /// A call as text: text can say what no value of ours can be.
    struct Call {
        let interface: InterfaceDefinition
        let method: MethodDefinition
        let more: Bool
        let parameters: String

        var name: String { "\(interface.name).\(method.name)" }

        var frame: [UInt8] {
            let more = more ? ",\"more\":true" : ""
            return Array("{\"method\":\"\(name)\",\"parameters\":\(parameters)\(more)}".utf8) + [0]
        }
    }

    private(set) var random: RepeatableRandom
    private let methods: [(InterfaceDefinition, MethodDefinition)]
    /// What is worth being said in a field of a name; replies teach more.
    private var known: [String: [String]]
    /// How many bytes the call in the making may still grow by, about.
    private var room = 0

    /// How much of the daemon's work one value may ask for: the biggest strings and lists.
    private static let bigString = 300_000
    private static let bigList = 5_000

    init(seed: UInt64, interfaces: [InterfaceDefinition], known: [String: [String]]) {
        random = RepeatableRandom(seed)
        methods = interfaces.flatMap { interface in interface.methods.map { (interface, $0) } }
        self.known = known
    }

    /// Remembers a text that a reply gave for a field, such as a cursor or a screen.
    mutating func learn(_ field: String, _ text: String) {
        guard text.utf8.count < 4_096 else { return }
        var texts = known[field] ?? []
        if texts.count < 40 {
            texts.append(text)
        } else {
            texts[Int.random(in: 0..<40, using: &random)] = text
        }
        known[field] = texts
    }

    /// The next call: of any method, but seldom of one that takes away what the others need.
    mutating func next() -> Call {
        var (interface, method) = methods[0]
        repeat {
            (interface, method) = methods[Int.random(in: 0..<methods.count, using: &random)]
        } while ["Delete", "Detach", "Remove", "Reload", "Restore"].contains(method.name)
            && !chance(0.1)
        room = chance(0.03) ? 4_000_000 : 40_000
        // What streams, and is refused without.
        let streams = ["Open", "Subscribe", "Export", "Backup", "Describe", "List"].contains(
            method.name)
        return Call(
            interface: interface, method: method, more: streams && chance(0.6),
            parameters: structure(method.parameters, interface, depth: 0))
    }

    /// True with this probability.
    mutating func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &random) < part }

    private mutating func one<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: 0..<list.count, using: &random)]
    }

    private mutating func structure(
        _ structure: Structure, _ interface: InterfaceDefinition, depth: Int
    ) -> String {
        var members: [String] = []
        for field in structure.fields {
            if case .nullable = field.type, chance(0.55) { continue }
            if chance(0.01) { continue }
            members.append(
                "\"\(field.name)\":\(value(field.type, field.name, interface, depth: depth))")
        }
        if chance(0.01), let last = members.last { members.append(last) }
        if chance(0.01) { members.append("\"unknown\":\(anything(depth))") }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func value(
        _ type: FieldType, _ name: String, _ interface: InterfaceDefinition, depth: Int
    ) -> String {
        if chance(0.005) { return anything(depth) }
        switch type {
        case .bool: return chance(0.5) ? "true" : "false"
        case .int:
            return chance(0.6)
                ? "\(Int.random(in: 0...60, using: &random))"
                : one(
                    [
                        "0", "1e3", "1000001", "2147483648", "9223372036854775808", "1.5", "-0",
                    ] + Self.edges)
        case .float:
            return chance(0.6)
                ? "\(Int.random(in: 0...6, using: &random))"
                : one([
                    "-0.0", "1e308", "-1e308", "5e-324", "1e999", "-1e999", "0.1", "1e-400",
                    "9007199254740993", "123456789012345678901234567890", "2.5",
                ])
        case .string: return quoted(text(name))
        case .object, .any: return object(depth)
        case .named(let name):
            guard let named = interface.types.first(where: { $0.name == name }) else {
                return "null"
            }
            return value(named.type, name, interface, depth: depth + 1)
        case .structure(let fields): return structure(fields, interface, depth: depth + 1)
        case .enumeration(let values): return quoted(one(values.values).name)
        case .array(let element):
            let items = (0..<count(depth)).map { _ in
                value(element, name, interface, depth: depth + 1)
            }
            let twice = chance(0.1) ? items + items : items
            return "[" + twice.joined(separator: ",") + "]"
        case .map(let element):
            let members = (0..<count(depth)).map { _ in
                quoted(text("section")) + ":"
                    + value(element, "filter", interface, depth: depth + 1)
            }
            return "{" + members.joined(separator: ",") + "}"
        case .nullable(let type):
            return chance(0.05) ? "null" : value(type, name, interface, depth: depth)
        }
    }

    /// How many elements a list has: a few, or very many where each is small.
    private mutating func count(_ depth: Int) -> Int {
        if chance(0.04), depth < 2 {
            return min(Int.random(in: 100...Self.bigList, using: &random), max(0, room / 16))
        }
        return Int.random(in: 0...3, using: &random)
    }

    private mutating func text(_ name: String) -> String {
        let text = anyText(name)
        room -= text.utf8.count + 8
        return room > 0 ? text : "x"
    }

    /// Where numbers end that are counted with.
    private static let edges = [
        "-1", "9223372036854775807", "9223372036854775806", "-9223372036854775808",
        "-9223372036854775807", "4611686018427387904", "9007199254740991", "9007199254740992",
        "9007199254740993",
    ]

    /// A cursor that looks like one that a page has given, with numbers that none has.
    private mutating func cursor() -> String {
        let (number, other) = (one(Self.edges), one(Self.edges))
        return one([
            number, number, number, "50", "\(number).\(other).x", "of\(number).x",
            "oe\(number).ab", "~\(number)~",
        ])
    }

    private mutating func anyText(_ name: String) -> String {
        if name == "cursor", chance(0.4) { return cursor() }
        if let texts = known[name], !texts.isEmpty, chance(0.75) { return one(texts) }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return ""
        case 1:
            return String(repeating: one(["x", "ab", "é", "e\u{301}", "🎬", "a b "]), count: size())
        case 2: return "\u{0}\u{1}\u{7}\u{1B}[31m\r\n\u{7F}\u{85}\u{2028}"
        case 3: return "\u{202E}\u{200F}\u{FEFF}\u{FFFE}\u{10FFFF}"
        case 4:
            return one(["../../etc/passwd", "/", ".", "..", "a/b", "films.>", "*", ">", "a.*.b"])
        case 5: return "e" + String(repeating: "\u{301}", count: size() / 4)
        case 6:
            return one([
                "true", "null", "NaN", "-inf", "1e999", "0x10", "２", "10000-01-01T00:00:00Z",
            ])
        case 7: return one(["unix:0", "unix:30001", "web:ann", ":", "web:", "unix:" + "9"])
        case 8:
            return one(["'; DROP TABLE records; --", "%s%n", "$(id)", "{{x}}", "\\\"", "\\u0000"])
        case 9:
            return String(UnicodeScalar(UInt32.random(in: 0x20...0xD7FF, using: &random)) ?? "x")
        case 10:
            return (0..<8).map { _ in one(["films", "list", "é", "-", "_", " ", "1"]) }.joined()
        default: return one(known["item"] ?? ["x"])
        }
    }

    /// A length: mostly short, at times beyond every limit.
    private mutating func size() -> Int {
        switch Int.random(in: 0..<100, using: &random) {
        case 0: Self.bigString
        case 1...4: 70_000
        case 5...20: 3_000
        default: Int.random(in: 1...200, using: &random)
        }
    }

    private mutating func object(_ depth: Int) -> String {
        let keys = known["field"] ?? ["title"]
        if chance(0.5) {
            let members = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                quoted(chance(0.8) ? one(keys) : text("field")) + ":" + anything(depth)
            }
            return "{" + members.joined(separator: ",") + "}"
        }
        return "{\"title\":\(quoted(text("title"))),\"x\":\(anything(depth))}"
    }

    private mutating func anything(_ depth: Int) -> String {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return "null"
        case 1: return chance(0.5) ? "true" : "false"
        case 2: return one(["0", "-1", "1e16", "9007199254740993", "1e999", "0.1", "1900"])
        case 3: return quoted(text("title"))
        case 4:
            let depth = one([2, 20, 63, 64, 600])
            return String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        case 5:
            let depth = one([2, 30, 100])
            return String(repeating: "{\"a\":", count: depth) + "1"
                + String(repeating: "}", count: depth)
        case 6 where depth < 4: return object(depth + 2)
        case 7 where depth < 4:
            let count = count(depth)
            return "[" + (0..<count).map { _ in quoted(text("title")) }.joined(separator: ",") + "]"
        default: return quoted(one(["1999-12-31T23:59:60Z", "2024-02-30", "x"]))
        }
    }

    /// As JSON, at times with escapes where none are needed, or with half a pair.
    private mutating func quoted(_ text: String) -> String {
        if chance(0.003) { return "\"\\ud800\"" }
        let escapes = chance(0.05)
        if !escapes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            return "\"\(text)\""
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || escapes && scalar.value < 0x80:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
