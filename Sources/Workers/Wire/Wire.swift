internal import AtriumKit

/// A type that is sent between the daemon and a worker, as a kit value.
///
/// Types are encoded as values, not as bytes, so that only one place (``WireText``) writes JSON.
protocol WireCodable {
    /// The encoded value.
    var wire: Value { get }

    /// Decodes a value.
    init(wire: Value) throws(WireError)
}

/// A message that can't be decoded: the other side has another version, or is broken.
struct WireError: Error, Hashable, CustomStringConvertible {
    /// What was expected.
    let expected: String
    /// What was found.
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

    /// Decodes a member; an absent one is decoded as null.
    func callAsFunction<Member: WireCodable>(_ name: String) throws(WireError) -> Member {
        do {
            return try Member(wire: members[name] ?? .null)
        } catch {
            throw WireError(expected: "\(name): \(error.expected)", found: error.found)
        }
    }

    /// The name of the enumeration's case.
    func caseName() throws(WireError) -> String { try self("case") }

    /// Returns the error for a case that is not known.
    func unknownCase(of type: String) -> WireError {
        WireError(expected: "a case of \(type)", found: members["case"]?.text ?? "none")
    }
}

extension Value {
    /// Encodes a case of an enumeration with its associated values.
    static func wire(_ name: String, _ members: [String: any WireCodable] = [:]) -> Value {
        var object = members.mapValues(\.wire)
        object["case"] = .text(name)
        return .object(object)
    }

    /// Encodes a structure's members; those that are null are left out.
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

/// A number that is not finite is encoded as text, since JSON has none.
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

/// An enumeration with raw texts is encoded as its text.
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

/// Encoded as the item's id; null for the container.
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
