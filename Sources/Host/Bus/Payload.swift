import JSONCodec

/// Writes the payloads of the standard notifications straight to the bytes of a JSON object.
enum Payload {
    /// Returns an object with these members.
    static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        members(&json)
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a member with a text.
    mutating func member(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }

    /// Writes a member with a text; nil: writes nothing.
    mutating func member(_ name: StaticString, _ text: String?) {
        if let text { member(name, text) }
    }

    /// Writes a member with a whole number.
    mutating func member(_ name: StaticString, _ int: Int) {
        key(name)
        self.int(int)
    }

    /// Writes a member with a number; nil: writes nothing.
    mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number else { return }
        key(name)
        double(number)
    }

    /// Writes a member with a list of texts.
    mutating func member(_ name: StaticString, _ texts: [String]) {
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    /// Writes a member with a Boolean.
    mutating func member(_ name: StaticString, _ bool: Bool) {
        key(name)
        self.bool(bool)
    }
}
