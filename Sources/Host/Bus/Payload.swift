import AtriumKit
import JSONCodec

/// The payloads of the standard notifications: JSON objects, written straight to bytes.
enum Payload {
    /// An object with these members.
    static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        members(&json)
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    /// A member with a text.
    mutating func member(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }

    /// A member with a text; nil: no member.
    mutating func member(_ name: StaticString, _ text: String?) {
        if let text { member(name, text) }
    }

    /// A member with a whole number.
    mutating func member(_ name: StaticString, _ int: Int) {
        key(name)
        self.int(int)
    }

    /// A member with a number; nil: no member.
    mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number else { return }
        key(name)
        double(number)
    }

    /// A member with texts.
    mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    /// A member with a truth value.
    mutating func member(_ name: StaticString, _ bool: Bool) {
        key(name)
        self.bool(bool)
    }
}
