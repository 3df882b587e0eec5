internal import AtriumKit
internal import Host
internal import Index
internal import JSONCodec

/// Encodes and decodes values as the JSON of messages.
///
/// Unlike elsewhere, a floating-point number is always written with a fraction (`4.0`), so that it is decoded as
/// the same type: a component must not see whether it lives in a worker.
enum WireText {
    /// How deep a message may nest: as deep as a client may send, and the message around that.
    static let nesting = 256

    /// Encodes a value, which must be an object.
    static func encode(_ value: Value) -> JSONObject {
        var json = JSONWriter()
        write(value, to: &json)
        return JSONObject(checked: json.bytes)
    }

    /// Decodes the output of ``encode(_:)``.
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
