import Certification
import JSONCodec
import VarlinkIDL

/// Holds a service's replies against the reference's, field by field, as the definition declares them.
struct Comparison {
    /// What is different, each in a line that names the call and the field.
    private(set) var differences: [String] = []

    /// Fields of the reference's replies that the definition does not have.
    private(set) var undeclaredByReference: Set<String> = []

    private let definition: InterfaceDefinition

    init() throws {
        definition = try InterfaceDefinition(Certification.description)
    }

    /// Compares one run.
    mutating func compare(_ ours: Conversation, to reference: Conversation) {
        for (index, call) in ours.calls.enumerated() {
            compare(ours.replies[index], to: reference.replies[index], of: call.method)
        }
        for extra in ours.rest { differences.append("after the end: \(extra)") }
    }

    private mutating func compare(
        _ ours: [JSONValue], to theirs: [JSONValue], of method: String
    ) {
        guard ours.count == theirs.count else {
            differences.append("\(method): \(ours.count) replies instead of \(theirs.count)")
            return
        }
        for (index, (our, their)) in zip(ours, theirs).enumerated() {
            let place = ours.count == 1 ? method : "\(method)#\(index + 1)"
            compare(reply: our, to: their, of: method, at: place)
        }
    }

    private mutating func compare(
        reply ours: JSONValue, to theirs: JSONValue, of method: String, at place: String
    ) {
        for name in ["error", "continues"] {
            // Not to continue may be said or left out.
            let (our, their) = (ours[name] ?? false, theirs[name] ?? false)
            if our != their {
                return differences.append("\(place): \(name) is \(our) instead of \(their)")
            }
        }
        let error = theirs["error"]?.string?.split(separator: ".").last
        let declared =
            error.flatMap { error in definition.errors.first { $0.name == error }?.parameters }
            ?? definition.methods.first { $0.name == method }?.reply
        guard let declared else { return differences.append("\(place): nothing is declared") }
        compare(
            ours["parameters"] ?? .object([]), theirs["parameters"] ?? .object([]),
            .structure(declared), at: place)
    }

    private mutating func compare(
        _ ours: JSONValue?, _ theirs: JSONValue?, _ type: FieldType, at path: String
    ) {
        switch (type, ours, theirs) {
        case (.nullable(let type), let ours?, let theirs?) where ours != .null && theirs != .null:
            compare(ours, theirs, type, at: path)
        case (.named(let name), _, _):
            let type = definition.types.first { $0.name == name }?.type
            compare(ours, theirs, type ?? .any, at: path)
        case (.structure(let structure), .object(let ours)?, .object(let theirs)?):
            compare(ours, theirs, structure, at: path)
        case (.map(let element), .object(let ours)?, .object(let theirs)?):
            for name in Set(ours.map(\.name) + theirs.map(\.name)).sorted() {
                compare(ours[name], theirs[name], element, at: "\(path).\(name)")
            }
        case (.array(let element), .array(let ours)?, .array(let theirs)?)
        where ours.count == theirs.count:
            for (index, pair) in zip(ours, theirs).enumerated() {
                compare(pair.0, pair.1, element, at: "\(path)[\(index)]")
            }
        default:
            guard !areEqual(ours, theirs, type) else { return }
            let (our, their) = (ours.map(\.text), theirs.map(\.text))
            differences.append(
                "\(path) is \(our ?? "missing") instead of \(their ?? "missing")")
        }
    }

    /// Whether two values without parts are equal, and of their type.
    private func areEqual(_ ours: JSONValue?, _ theirs: JSONValue?, _ type: FieldType) -> Bool {
        switch (type, ours, theirs) {
        // Null and absent are the same.
        case (.nullable, _, _): (ours ?? .null) == .null && (theirs ?? .null) == .null
        case (.bool, .bool(let ours)?, .bool(let theirs)?): ours == theirs
        case (.int, .int(let ours)?, .int(let theirs)?): ours == theirs
        case (.float, let ours?, let theirs?): ours.isSameNumber(as: theirs)
        case (.string, .string(let ours)?, .string(let theirs)?): ours == theirs
        case (.enumeration(let values), .string(let ours)?, .string(let theirs)?):
            ours == theirs && values.values.contains { $0.name == ours }
        case (.object, .object?, .object?), (.any, _?, _?): ours?.plain == theirs?.plain
        default: false
        }
    }

    private mutating func compare(
        _ ours: [JSONValue.Member], _ theirs: [JSONValue.Member], _ structure: Structure,
        at path: String
    ) {
        let names = Set(structure.fields.map(\.name))
        for member in ours where !names.contains(member.name) {
            differences.append("\(path).\(member.name) is not declared")
        }
        for member in theirs where !names.contains(member.name) {
            undeclaredByReference.insert("\(path).\(member.name)")
        }
        for field in structure.fields {
            compare(ours[field.name], theirs[field.name], field.type, at: "\(path).\(field.name)")
        }
    }
}

extension [JSONValue.Member] {
    fileprivate subscript(name: String) -> JSONValue? { first { $0.name == name }?.value }
}

extension JSONValue {
    fileprivate var text: String { String(decoding: JSON.encode(self), as: UTF8.self) }

    fileprivate func isSameNumber(as other: JSONValue) -> Bool {
        plain == other.plain && double != nil
    }

    /// The value as JSON means it: members in any order, and 1.0 is 1.
    fileprivate var plain: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.plain) }.sorted { $0.name < $1.name })
        case .array(let elements): .array(elements.map(\.plain))
        case .double(let value) where Int64(exactly: value) != nil: .int(Int64(value))
        case .null, .bool, .int, .double, .string: self
        }
    }
}
