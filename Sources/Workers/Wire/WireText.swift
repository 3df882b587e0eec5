internal import AtriumKit
internal import Host
internal import Index
internal import JSONCodec

/// A value as the text of a message.
///
/// Unlike elsewhere, a number that may have a fraction always shows it (`4.0`), so that it comes
/// back as what it was: a component must not see which side of a socket it lives on.
enum WireText {
    /// How deep a message may nest: what a client may send, and the message around it.
    static let nesting = 256

    /// The value, which is an object, as JSON.
    static func encode(_ value: Value) -> JSONObject {
        var json = JSONWriter()
        write(value, to: &json)
        return JSONObject(checked: json.bytes)
    }

    /// Reads what ``encode(_:)`` wrote.
    static func decode(_ text: [UInt8]) throws(WireError) -> Value {
        do {
            return try JSON.decode(Value.self, from: text, depthLimit: nesting)
        } catch {
            throw WireError(expected: "a message", found: "\(error)")
        }
    }

    private static func write(_ value: Value, to json: inout JSONWriter) {
        switch value {
        case .number(let number) where number.isFinite:
            json.raw(Array(number.description.utf8))
        case .list(let list):
            json.beginArray()
            for element in list { write(element, to: &json) }
            json.endArray()
        case .object(let object):
            json.beginObject()
            for (name, member) in object {
                json.key(name)
                write(member, to: &json)
            }
            json.endObject()
        default: value.write(to: &json)
        }
    }
}
