/// A type that can read itself from JSON.
public protocol JSONReadable {
    /// Reads one value.
    ///
    /// - Parameter json: The reader, before the value; afterwards just behind it.
    /// - Throws: ``JSONError`` where the text is not JSON, or not a value of this type.
    init(json: inout JSONReader) throws(JSONError)
}

/// A type that can write itself as JSON.
public protocol JSONWritable {
    /// Writes exactly one value.
    ///
    /// - Parameter json: The writer, at a place where a value is allowed.
    func write(to json: inout JSONWriter)
}

/// A type that can read itself from JSON and write itself as JSON.
public typealias JSONCodable = JSONReadable & JSONWritable

extension Bool: JSONReadable, JSONWritable {
    /// Reads `true` or `false`.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = try json.readBool()
    }

    /// Writes `true` or `false`.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.bool(self)
    }
}

extension Int: JSONReadable, JSONWritable {
    /// Reads an integer, see ``JSONReader/readInt()``.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = try json.readInt()
    }

    /// Writes an integer.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.int(self)
    }
}

extension Int64: JSONReadable, JSONWritable {
    /// Reads an integer, see ``JSONReader/readInt()``.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = Int64(try json.readInt())
    }

    /// Writes an integer.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.int(Int(self))
    }
}

extension Double: JSONReadable, JSONWritable {
    /// Reads a number, see ``JSONReader/readDouble()``.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = try json.readDouble()
    }

    /// Writes a number, see ``JSONWriter/double(_:)``.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.double(self)
    }
}

extension String: JSONReadable, JSONWritable {
    /// Reads a string, see ``JSONReader/readString()``.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = try json.readString()
    }

    /// Writes a string.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.string(self)
    }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Reads `null` as nil.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = try json.readNull() ? nil : Wrapped(json: &json)
    }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// Writes nil as `null`.
    @inlinable
    public func write(to json: inout JSONWriter) {
        if let self { self.write(to: &json) } else { json.null() }
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads an array.
    ///
    /// - Parameter json: The reader.
    /// - Throws: The error of an element; ``JSONError`` for anything that is no array.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = []
        try json.beginArray()
        while try json.nextElement() {
            // Growing step by step from one element on costs more than the room that is left unused.
            if isEmpty { reserveCapacity(4) }
            append(try Element(json: &json))
        }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes an array.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.beginArray()
        for element in self { element.write(to: &json) }
        json.endArray()
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads an object, member by member.
    ///
    /// - Parameter json: The reader.
    /// - Throws: The error of a value; ``JSONError`` for anything that is no object, and for duplicate names, also
    ///   those that are equal only by Unicode's canonical equivalence.
    @inlinable
    public init(json: inout JSONReader) throws(JSONError) {
        self = [:]
        try json.beginObject()
        while let key = try json.nextKey() {
            // Growing from one member on would hash the same names again and again.
            if isEmpty { self = Dictionary(minimumCapacity: 6) }
            guard updateValue(try Value(json: &json), forKey: key.string) == nil else {
                throw json.duplicateMember(key)
            }
        }
    }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// Writes an object, members sorted by name, so that equal ones are equal bytes.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        if count <= 16 {
            // Most are so small. Sorting all of it would allocate, and copy the values.
            writeFew(to: &json)
        } else {
            for (name, value) in sorted(by: { $0.key < $1.key }) {
                json.key(name)
                value.write(to: &json)
            }
        }
        json.endObject()
    }

    /// Writes the members in order, with their places on the stack.
    @inlinable
    func writeFew(to json: inout JSONWriter) {
        withUnsafeTemporaryAllocation(of: (name: String, place: Index).self, capacity: count) {
            sorted in
            var filled = 0
            defer { sorted[..<filled].deinitialize() }
            var place = startIndex
            while place != endIndex {
                let name = keys[place]
                var target = filled
                while target > 0, name < sorted[target - 1].name {
                    sorted.initializeElement(at: target, to: sorted.moveElement(from: target - 1))
                    target -= 1
                }
                sorted.initializeElement(at: target, to: (name, place))
                filled += 1
                formIndex(after: &place)
            }
            for (name, place) in sorted[..<filled] {
                json.key(name)
                self[place].value.write(to: &json)
            }
        }
    }
}
