internal import AtriumKit
internal import Index
internal import JSONCodec

/// Writes types that are `Encodable` as JSON at once, without a tree of values.
final class WireEncoder: Encoder {
    private(set) var json = JSONWriter()
    /// The open containers, the outermost first: objects (true) and arrays.
    private var open: [Bool] = []
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Writes a value at a place where one is allowed.
    func write<Member: Encodable>(_ member: Member) throws {
        let depth = open.count
        if Member.self == Value.self, let value = member as? Value {
            write(value)
        } else if Member.self == [String: Value].self, let object = member as? [String: Value] {
            write(.object(object))
        } else if Member.self == [UInt8].self, let bytes = member as? [UInt8] {
            json.string(Base64.text(bytes))
        } else {
            try member.encode(to: self)
        }
        close(to: depth)
    }

    fileprivate func write(_ value: Value) {
        switch value {
        case .number(let number): write(number)
        case .list(let list):
            json.beginArray()
            for element in list { write(element) }
            json.endArray()
        case .object(let object):
            json.beginObject()
            for (name, member) in object {
                json.key(name)
                write(member)
            }
            json.endObject()
        case .null, .bool, .int, .text: value.write(to: &json)
        }
    }

    fileprivate func write(_ number: Double) {
        guard number.isFinite else { return json.string(number.description) }
        json.raw(Array(number.description.utf8))
    }

    fileprivate func key(_ name: String, at depth: Int) {
        close(to: depth)
        json.key(name)
    }

    /// Ends all objects and arrays but the outer ones: a container does not say when it is complete.
    fileprivate func close(to depth: Int) {
        while open.count > depth, let isObject = open.popLast() {
            if isObject { json.endObject() } else { json.endArray() }
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        json.beginObject()
        open.append(true)
        return KeyedEncodingContainer(ObjectWriter(encoder: self, depth: open.count))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        json.beginArray()
        open.append(false)
        return ArrayWriter(encoder: self, depth: open.count)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(encoder: self) }
}

private struct ObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: WireEncoder
    /// The number of open objects and arrays, including this one.
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {
        encoder.key(key.stringValue, at: depth)
        encoder.write(.null)
    }

    func encode<Member: Encodable>(_ member: Member, forKey key: Key) throws {
        encoder.key(key.stringValue, at: depth)
        try encoder.write(member)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.key(key.stringValue, at: depth)
        return encoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.key(key.stringValue, at: depth)
        return encoder.unkeyedContainer()
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder.key(key.stringValue, at: depth)
        return encoder
    }

    func superEncoder() -> any Encoder {
        encoder.key("super", at: depth)
        return encoder
    }
}

private struct ArrayWriter: UnkeyedEncodingContainer {
    let encoder: WireEncoder
    let depth: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(encoder: WireEncoder, depth: Int) {
        self.encoder = encoder
        self.depth = depth
    }

    private mutating func next() {
        encoder.close(to: depth)
        count += 1
    }

    mutating func encodeNil() {
        next()
        encoder.write(.null)
    }

    mutating func encode<Element: Encodable>(_ element: Element) throws {
        next()
        try encoder.write(element)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        next()
        return encoder.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next()
        return encoder.unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        next()
        return encoder
    }
}

private struct ValueWriter: SingleValueEncodingContainer {
    let encoder: WireEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { encoder.write(.null) }
    func encode(_ bool: Bool) { encoder.write(.bool(bool)) }
    func encode(_ text: String) { encoder.write(.text(text)) }
    func encode<Number: BinaryFloatingPoint & Encodable>(_ number: Number) {
        encoder.write(Double(number))
    }
    func encode<Number: BinaryInteger & Encodable>(_ number: Number) {
        encoder.write(.int(Int64(number)))
    }
    func encode<Member: Encodable>(_ member: Member) throws { try encoder.write(member) }
}
