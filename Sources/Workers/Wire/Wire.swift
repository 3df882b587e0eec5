internal import AtriumKit

/// What travels between the daemon and a worker, as a kit value.
///
/// Values, not bytes: the same plain words for every type, and one place that turns them into JSON.
protocol WireCodable {
    /// The value that stands for this.
    var wire: Value { get }

    /// Reads it back.
    init(wire: Value) throws(WireError)
}

/// A message that the other side can't have meant: it is of another version, or broken.
struct WireError: Error, Hashable, CustomStringConvertible {
    /// What would be right.
    let expected: String
    /// What is there.
    let found: String

    init(expected: String, found: Value) {
        self.expected = expected
        self.found = found.typeName
    }

    init(expected: String, found: String) {
        self.expected = expected
        self.found = found
    }

    var description: String { "expected \(expected), found \(found)" }
}

/// The members of an object, read by name.
struct WireObject {
    private let members: [String: Value]

    init(_ value: Value) throws(WireError) {
        guard case .object(let members) = value else {
            throw WireError(expected: "an object", found: value)
        }
        self.members = members
    }

    /// The member's value; an absent one reads as null.
    func callAsFunction<Member: WireCodable>(_ name: String) throws(WireError) -> Member {
        do {
            return try Member(wire: members[name] ?? .null)
        } catch {
            throw WireError(expected: "\(name): \(error.expected)", found: error.found)
        }
    }

    /// The name of the case that this stands for.
    func caseName() throws(WireError) -> String { try self("case") }

    /// What is thrown for a case that nobody knows.
    func unknownCase(of type: String) -> WireError {
        WireError(expected: "a case of \(type)", found: members["case"]?.text ?? "none")
    }
}

extension Value {
    /// A case of an enumeration, with what it carries.
    static func wire(_ name: String, _ members: [String: any WireCodable] = [:]) -> Value {
        var object = members.mapValues(\.wire)
        object["case"] = .text(name)
        return .object(object)
    }

    /// A structure's members.
    static func wire(members: [String: any WireCodable]) -> Value {
        .object(members.mapValues(\.wire).filter { !$0.value.isNull })
    }
}

// MARK: Plain types

extension Value: WireCodable {
    var wire: Value { self }
    init(wire: Value) { self = wire }
}

extension String: WireCodable {
    var wire: Value { .text(self) }

    init(wire: Value) throws(WireError) {
        guard case .text(let text) = wire else { throw WireError(expected: "text", found: wire) }
        self = text
    }
}

extension Bool: WireCodable {
    var wire: Value { .bool(self) }

    init(wire: Value) throws(WireError) {
        guard case .bool(let bool) = wire else {
            throw WireError(expected: "true or false", found: wire)
        }
        self = bool
    }
}

extension Int64: WireCodable {
    var wire: Value { .int(self) }

    init(wire: Value) throws(WireError) {
        guard case .int(let int) = wire else {
            throw WireError(expected: "a whole number", found: wire)
        }
        self = int
    }
}

extension Int: WireCodable {
    var wire: Value { .int(Int64(self)) }
    init(wire: Value) throws(WireError) { self = Int(try Int64(wire: wire)) }
}

/// JSON has no infinity: one is written as text.
extension Double: WireCodable {
    var wire: Value { isFinite ? .number(self) : .text(description) }

    init(wire: Value) throws(WireError) {
        if let number = wire.number {
            self = number
        } else if let number = wire.text.flatMap(Double.init) {
            self = number
        } else {
            throw WireError(expected: "a number", found: wire)
        }
    }
}

extension Optional: WireCodable where Wrapped: WireCodable {
    var wire: Value { self?.wire ?? .null }

    init(wire: Value) throws(WireError) {
        self = wire.isNull ? nil : try Wrapped(wire: wire)
    }
}

extension Array: WireCodable where Element: WireCodable {
    var wire: Value { .list(map(\.wire)) }

    init(wire: Value) throws(WireError) {
        guard case .list(let list) = wire else { throw WireError(expected: "a list", found: wire) }
        self = []
        reserveCapacity(list.count)
        for element in list { append(try Element(wire: element)) }
    }
}

extension Dictionary: WireCodable where Key == String, Value: WireCodable {
    var wire: AtriumKit.Value { .object(mapValues(\.wire)) }

    init(wire: AtriumKit.Value) throws(WireError) {
        guard case .object(let object) = wire else {
            throw WireError(expected: "an object", found: wire)
        }
        self = [:]
        for (name, value) in object { self[name] = try Value(wire: value) }
    }
}

/// Enumerations of words are written as their word.
extension WireCodable where Self: RawRepresentable<String> {
    var wire: Value { .text(rawValue) }

    init(wire: Value) throws(WireError) {
        let text = try String(wire: wire)
        guard let value = Self(rawValue: text) else {
            throw WireError(expected: "a word of \(Self.self)", found: "'\(text)'")
        }
        self = value
    }
}

extension ActorID: WireCodable {
    var wire: Value { number.wire }
    init(wire: Value) throws(WireError) { self.init(try Int64(wire: wire)) }
}

extension Timestamp: WireCodable {
    var wire: Value { milliseconds.wire }
    init(wire: Value) throws(WireError) { self.init(milliseconds: try Int64(wire: wire)) }
}

/// The item's id; null for the container.
extension Subject: WireCodable {
    var wire: Value { item.wire }
    init(wire: Value) throws(WireError) { self.init(item: try String?(wire: wire)) }
}

extension Kind: WireCodable {}
extension LogLevel: WireCodable {}
extension LifecyclePhase: WireCodable {}
extension Refusal.Code: WireCodable {}
extension Comment.State: WireCodable {}
extension ThreadQuery.Order: WireCodable {}
extension SectionInput: WireCodable {}
extension SubjectKind: WireCodable {}
extension Field.FieldType: WireCodable {}
extension Field.Bucket: WireCodable {}
