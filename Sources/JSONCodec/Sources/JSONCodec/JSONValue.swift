/// Any JSON value, as a tree, for values that have no type of their own.
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number written without a fraction and an exponent, within 64 bits.
    case int(Int64)
    /// Any other number; one that is not finite is written as `null`.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object: its members in the order of the text.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// Its name, which no other member of the object has.
        public var name: String

        /// Its value.
        public var value: JSONValue

        /// Makes a member.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - value: Its value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The value of a member; nil if there is none, or this is no object.
    ///
    /// Setting it replaces the member, or appends it; nil removes it. Setting it on a value that is no object makes
    /// that an object.
    ///
    /// - Parameter name: The member's name.
    public subscript(name: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.name == name }?.value
        }
        set {
            var members: [Member] = []
            if case .object(let current) = self { members = current }
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// An element; nil where there is none, or this is no array.
    ///
    /// - Parameter index: Its place, from 0.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The string; nil where this is none.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer; nil where this is none.
    public var int: Int? {
        if case .int(let value) = self { Int(value) } else { nil }
    }

    /// The number, integral or not; nil where this is none.
    public var double: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }

    /// The truth value; nil where this is none.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements; nil where this is no array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members; nil where this is no object.
    public var object: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }
}

extension JSONValue: JSONReadable, JSONWritable {
    /// Reads any value.
    ///
    /// - Parameter json: The reader.
    /// - Throws: ``JSONError`` if it is not JSON, or a name occurs twice in one object.
    public init(json: inout JSONReader) throws(JSONError) {
        switch try json.peek() {
        case .null:
            _ = try json.readNull()
            self = .null
        case .bool: self = .bool(try json.readBool())
        case .number: self = try json.readNumber()
        case .string: self = .string(try json.readString())
        case .array: self = .array(try [JSONValue](json: &json))
        case .object: self = .object(try Self.members(&json))
        }
    }

    /// Reads one value that makes up the whole of a text, and rounds no whole number.
    ///
    /// A whole number that 64 bits don't hold is a ``string(_:)`` of its digits. Elsewhere it is the nearest
    /// ``double(_:)``.
    ///
    /// - Parameter bytes: The text, UTF-8.
    /// - Throws: ``JSONError`` if it is not JSON, or a name occurs twice in one object.
    public init(keepingDigits bytes: [UInt8]) throws(JSONError) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(JSONError) -> JSONValue in
                var reader = JSONReader(buffer)
                reader.keepsDigits = true
                let value = try JSONValue(json: &reader)
                try reader.end()
                return value
            }
        }
        self = try result.get()
    }

    private static func members(_ json: inout JSONReader) throws(JSONError) -> [Member] {
        var members: [Member] = []
        try json.beginObject()
        var names = JSONScope()
        while let key = try json.nextKey() {
            guard names.insert(key) else { throw json.duplicateMember(key) }
            if members.isEmpty { members.reserveCapacity(4) }
            members.append(Member(key.string, try JSONValue(json: &json)))
        }
        return members
    }

    /// Writes the value.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .int(let value): json.int(Int(value))
        case .double(let value): json.double(value)
        case .string(let value): json.string(value)
        case .array(let elements): elements.write(to: &json)
        case .object(let members):
            json.beginObject()
            for member in members {
                json.key(member.name)
                member.value.write(to: &json)
            }
            json.endObject()
        }
    }
}
