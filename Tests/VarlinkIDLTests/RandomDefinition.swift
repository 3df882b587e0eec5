@testable import VarlinkIDL

/// Definitions that nobody would write, the same for the same seed.
struct RandomDefinition {
    /// Whether to keep to what other parsers read: no `any`, no enumeration of one value.
    var isPlain = false

    private var state: UInt64
    private var typeNames: [String] = []

    init(seed: UInt64, isPlain: Bool = false) {
        state = seed
        self.isPlain = isPlain
    }

    mutating func make() -> InterfaceDefinition {
        let names = (0..<count(1...9)).map { "\(word("ABCXYZ"))\($0)" }
        let split = count(0...names.count)
        typeNames = Array(names[..<split])
        let types = typeNames.map { name in
            TypeDefinition(
                name: name, documentation: documentation(),
                type: count(0...3) == 0 ? enumeration() : .structure(structure(3)),
                position: .nowhere)
        }
        var methods: [MethodDefinition] = []
        var errors: [ErrorDefinition] = []
        for name in names[split...] {
            if count(0...1) == 0 {
                methods.append(
                    MethodDefinition(
                        name: name, documentation: documentation(), parameters: structure(3),
                        reply: structure(3), position: .nowhere))
            } else {
                errors.append(
                    ErrorDefinition(
                        name: name, documentation: documentation(), parameters: structure(3),
                        position: .nowhere))
            }
        }
        return InterfaceDefinition(
            name: "org.\(word("abc")).\(word("ABxyz"))-\(count(0...9))",
            documentation: documentation(),
            text: "", types: types, methods: methods, errors: errors)
    }

    private mutating func structure(_ depth: Int) -> Structure {
        Structure(
            fields: (0..<count(0...4)).map { number in
                Field(
                    name: word("abzJ") + "\(number)", documentation: documentation(),
                    type: type(depth), position: .nowhere)
            })
    }

    private mutating func enumeration() -> FieldType {
        .enumeration(
            Enumeration(
                values: (0..<count((isPlain ? 2 : 1)...4)).map { number in
                    EnumerationValue(
                        name: word("xyQ") + "_\(number)", documentation: documentation(),
                        position: .nowhere)
                }))
    }

    private mutating func type(_ depth: Int, isNullable: Bool = false) -> FieldType {
        switch count(0...(depth > 0 ? 12 : 7)) {
        case 0: return .bool
        case 1: return .int
        case 2: return .float
        case 3: return .string
        case 4: return .object
        case 5: return isPlain ? .string : .any
        case 6, 7:
            return typeNames.isEmpty ? .int : .named(typeNames[count(0...(typeNames.count - 1))])
        case 8: return .array(type(depth - 1))
        case 9: return .map(type(depth - 1))
        case 10 where !isNullable: return .nullable(type(depth - 1, isNullable: true))
        case 11: return enumeration()
        default: return .structure(structure(depth - 1))
        }
    }

    private mutating func documentation() -> String {
        let lines = ["", "", "", "Says something.", "  Indented, # with a sign.", "Ünïcode ✓"]
        return (0..<count(0...2)).map { _ in lines[count(0...(lines.count - 1))] }
            .joined(separator: "\n")
    }

    private mutating func word(_ letters: String) -> String {
        let letters = Array(letters)
        return String((0...count(0...12)).map { _ in letters[count(0...(letters.count - 1))] })
    }

    private mutating func count(_ range: ClosedRange<Int>) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return range.lowerBound + Int((state >> 33) % UInt64(range.count))
    }
}

extension TextPosition {
    fileprivate static let nowhere = TextPosition(line: 0, column: 0)
}
