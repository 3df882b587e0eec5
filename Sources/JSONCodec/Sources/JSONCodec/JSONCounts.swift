/// An object of whole numbers, such as `{"4":1,"5":3}`.
///
/// It is a dictionary, or the text of one that was written before and is only passed on.
public struct JSONCounts: Sendable {
    private enum Form {
        case dictionary([String: Int])
        /// The members, without the braces.
        case members([UInt8])
    }

    private var form: Form

    /// Makes an object of a dictionary.
    public init(_ counts: [String: Int]) { form = .dictionary(counts) }

    /// Makes an object of members that are written already.
    ///
    /// - Parameter members: The members in the order of their names, without braces and whitespace; they are not
    ///   checked.
    public init(checkedMembers members: [UInt8]) { form = .members(members) }

    /// The members.
    public var dictionary: [String: Int] {
        switch form {
        case .dictionary(let counts): counts
        case .members(let members):
            // The daemon only writes them. Tests, which read them, have few.
            (try? JSON.decode(from: [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")])) ?? [:]
        }
    }

    /// The number with a name; nil: there is none.
    public subscript(name: String) -> Int? { dictionary[name] }
}

extension JSONCounts: JSONReadable, JSONWritable {
    /// Reads an object, member by member.
    ///
    /// - Parameter json: The reader.
    /// - Throws: ``JSONError`` for anything that is no object of integers, and for duplicate names.
    public init(json: inout JSONReader) throws(JSONError) {
        form = .dictionary(try Dictionary(json: &json))
    }

    /// Writes the object, members sorted by name.
    public func write(to json: inout JSONWriter) {
        switch form {
        case .dictionary(let counts): counts.write(to: &json)
        case .members(let members):
            json.beginObject()
            if !members.isEmpty { json.raw(members) }
            json.endObject()
        }
    }
}

extension JSONCounts: Hashable {
    /// Whether both have the same members.
    public static func == (one: JSONCounts, other: JSONCounts) -> Bool {
        one.dictionary == other.dictionary
    }

    /// Hashes the members.
    public func hash(into hasher: inout Hasher) { hasher.combine(dictionary) }
}

extension JSONCounts: Sequence, ExpressibleByDictionaryLiteral {
    /// Iterates over the members, in any order.
    public func makeIterator() -> [String: Int].Iterator { dictionary.makeIterator() }

    /// Makes an object of members, no two of which may have the same name.
    public init(dictionaryLiteral elements: (String, Int)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements))
    }
}
