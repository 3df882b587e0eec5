internal import AtriumKit
internal import JSONCodec

/// Reads types from the JSON value of a message.
///
/// It throws `WireError`, with the path to the wrong value.
struct WireDecoder: Decoder {
    private let value: JSONValue
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: JSONValue) { self.value = value }

    /// Reads all of the value.
    func read<Member: Decodable>(_ type: Member.Type) throws(WireError) -> Member {
        // What a message consists of most is read without containers.
        if type == String.self, case .string(let text) = value, let text = text as? Member {
            return text
        }
        if type == Value.self, let value = try value.plain() as? Member { return value }
        if type == [String: Value].self, let object = try value.plain().object as? Member {
            return object
        }
        if type == [UInt8].self {
            guard let bytes = value.string.flatMap(Base64.bytes) as? Member else {
                throw expected("base64")
            }
            return bytes
        }
        do {
            return try Member(from: self)
        } catch let error as WireError {
            throw error
        } catch let DecodingError.dataCorrupted(context) {
            throw expected("a \(Member.self) (\(context.debugDescription))")
        } catch {
            throw expected("a \(Member.self)")
        }
    }

    fileprivate func expected(_ what: String) -> WireError {
        let found =
            switch value {
            case .string(let text): "'\(text.prefix(100))'"
            case .object(let members) where members.count == 1:
                "an object with '\(members[0].name.prefix(100))'"
            case .object: Value.object([:]).typeName
            case .array: Value.list([]).typeName
            case .int: Value.int(0).typeName
            case .double: Value.number(0).typeName
            case .bool: Value.bool(false).typeName
            case .null: Value.null.typeName
            }
        return WireError(expected: what, found: found)
    }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw expected("an object") }
        return KeyedDecodingContainer(try ObjectReader(members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw expected("a list") }
        return ArrayReader(elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension WireDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let bool) = value else { throw expected("true or false") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = value else { throw expected("text") }
        return text
    }

    func decode<Number: BinaryFloatingPoint & Decodable>(_ type: Number.Type) throws -> Number {
        switch value {
        case .double(let number): return Number(number)
        case .int(let number): return Number(number)
        case .string(let text):
            guard let number = Double(text) else { break }
            return Number(number)
        default: break
        }
        throw expected("a number")
    }

    func decode<Number: BinaryInteger & Decodable>(_ type: Number.Type) throws -> Number {
        guard case .int(let int) = value, let number = Number(exactly: int) else {
            throw expected("a whole number")
        }
        return number
    }

    func decode<Member: Decodable>(_ type: Member.Type) throws -> Member { try read(type) }
}

extension WireError {
    /// The error for an object that has a member twice: the names are equal as Unicode, though their bytes differ.
    fileprivate init(twice name: String) {
        self.init(
            expected: "an object with each member once", found: "'\(name.prefix(100))' twice")
    }
}

extension JSONValue {
    /// The value that the tree is; throws that an object has two names that are equal as Unicode.
    func plain() throws(WireError) -> AtriumKit.Value {
        switch self {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .int(let int): return .int(int)
        case .double(let double): return .number(double)
        case .string(let text): return .text(text)
        case .array(let elements):
            var list: [AtriumKit.Value] = []
            list.reserveCapacity(elements.count)
            for element in elements { list.append(try element.plain()) }
            return .list(list)
        case .object(let members):
            var object = [String: AtriumKit.Value](minimumCapacity: members.count)
            for member in members {
                guard object.updateValue(try member.value.plain(), forKey: member.name) == nil
                else { throw WireError(twice: member.name) }
            }
            return .object(object)
        }
    }
}

/// An absent member is read as null.
private struct ObjectReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [JSONValue.Member]
    /// The indexes of the members by name, if there are many or some names are not ASCII; a few are found faster by
    /// comparing.
    private let places: [String: Int]
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    init(_ members: [JSONValue.Member]) throws(WireError) {
        self.members = members
        var places: [String: Int] = [:]
        // Names in ASCII are equal only if their bytes are.
        if members.count > 24 || !members.allSatisfy({ $0.name.utf8.allSatisfy { $0 < 0x80 } }) {
            places.reserveCapacity(members.count)
            for (place, member) in members.enumerated() {
                guard places.updateValue(place, forKey: member.name) == nil else {
                    throw WireError(twice: member.name)
                }
            }
        }
        self.places = places
    }

    private func member(_ name: String) -> JSONValue? {
        if !places.isEmpty { return places[name].map { members[$0].value } }
        return members.first { $0.name == name }?.value
    }

    private func member(_ key: Key) -> JSONValue { member(key.stringValue) ?? .null }

    func contains(_ key: Key) -> Bool { member(key.stringValue) != nil }
    func decodeNil(forKey key: Key) -> Bool { member(key) == .null }

    func decode<Member: Decodable>(_ type: Member.Type, forKey key: Key) throws -> Member {
        do {
            return try WireDecoder(member(key)).read(type)
        } catch {
            throw WireError(expected: "\(key.stringValue): \(error.expected)", found: error.found)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try WireDecoder(member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try WireDecoder(member(key)).unkeyedContainer()
    }

    func superDecoder(forKey key: Key) -> any Decoder { WireDecoder(member(key)) }
    func superDecoder() -> any Decoder { WireDecoder(member("super") ?? .null) }
}

private struct ArrayReader: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    init(elements: [JSONValue]) { self.elements = elements }

    private mutating func next() throws(WireError) -> WireDecoder {
        guard !isAtEnd else { throw WireError(expected: "an element", found: "the end of a list") }
        defer { currentIndex += 1 }
        return WireDecoder(elements[currentIndex])
    }

    mutating func decodeNil() -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Element: Decodable>(_ type: Element.Type) throws -> Element {
        try next().read(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}
