import JSONCodec
import Varlink

/// A small service, written by hand as the generator would write it.
enum Example: VarlinkInterface {
    static let name = "org.example.test"
    static let description = """
        # For tests.
        interface org.example.test

        method Echo(text: string) -> (text: string)

        """
    static let methodNames = ["Echo", "Hold", "Count", "Follow", "Planned"]
    static let errorNames: [String] = []

    /// Answers at once with what it was given.
    enum Echo: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Echo"
    }

    /// Answers when the test says so.
    enum Hold: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Hold"
    }

    /// Answers 1, 2, … up to a number, one reply each.
    enum Count: VarlinkMethod {
        typealias Parameters = Number
        typealias Reply = Number
        static let name = "org.example.test.Count"
    }

    /// A subscription: answers what the test pushes.
    enum Follow: VarlinkMethod {
        typealias Parameters = VarlinkNothing
        typealias Reply = Text
        static let name = "org.example.test.Follow"
    }

    /// Refuses, saying why.
    struct Refused: VarlinkErrorReply, Hashable {
        static let name = "org.example.test.Refused"
        var reason: String

        init(reason: String) { self.reason = reason }
        init(json: inout JSONReader) throws(JSONError) { reason = try json.readMember("reason") }
        func write(to json: inout JSONWriter) { json.writeMember("reason", reason) }
    }
}

/// A text, `(text: string)`.
struct Text: VarlinkCodable, Hashable {
    var text: String

    init(_ text: String) { self.text = text }
    init(json: inout JSONReader) throws(JSONError) { text = try json.readMember("text") }
    func write(to json: inout JSONWriter) { json.writeMember("text", text) }
}

/// A number, `(value: int)`.
struct Number: VarlinkCodable, Hashable {
    var value: Int

    init(_ value: Int) { self.value = value }
    init(json: inout JSONReader) throws(JSONError) { value = try json.readMember("value") }
    func write(to json: inout JSONWriter) { json.writeMember("value", value) }
}

extension JSONReader {
    mutating func readMember<Value: JSONReadable>(
        _ name: StaticString
    ) throws(JSONError) -> Value {
        var result: Value?
        var others = JSONKeySet()
        try beginObject()
        while let key = try nextKey() {
            if key == name {
                result = try Value(json: &self)
            } else {
                try skipUnknownMember(key, among: &others)
            }
        }
        guard let result else { throw missingMember(name.description) }
        return result
    }
}

extension JSONWriter {
    mutating func writeMember(_ name: StaticString, _ value: some JSONWritable) {
        beginObject()
        key(name)
        value.write(to: &self)
        endObject()
    }
}
