internal import Foundation
internal import JSONCodec

/// The JSON of messages between the daemon and a worker, which their types encode as `Codable`.
///
/// Unlike elsewhere, a floating-point number is always written with a fraction (`4.0`), so that it is decoded as the
/// same type: a component must not see whether it lives in a worker. A number that is not finite is a text, and bytes
/// are in base64.
enum Wire {
    /// The maximum nesting of a message: that of a client's message, and the message around that.
    static let nesting = 256

    /// Encodes a message, which must be an object.
    static func encode(_ message: some Encodable) -> JSONObject {
        let encoder = WireEncoder()
        do {
            try encoder.write(message)
        } catch {
            // Only a type's own `encode(to:)` throws, and that of none that is sent does.
            fatalError("a message that can't be encoded: \(error)")
        }
        return JSONObject(checked: encoder.json.bytes)
    }

    /// Decodes the output of ``encode(_:)``.
    static func decode<Message: Decodable>(
        _ type: Message.Type, from text: [UInt8]
    ) throws(WireError) -> Message {
        try WireDecoder(parse(text)).read(type)
    }

    /// Decodes a worker's answer.
    static func answer(_ text: [UInt8]) throws(WireError) -> WorkerAnswer {
        let value = try parse(text)
        if let decision = WorkerAnswer(decisionOnVote: value) { return decision }
        return try WireDecoder(value).read(WorkerAnswer.self)
    }

    private static func parse(_ text: [UInt8]) throws(WireError) -> JSONValue {
        do {
            return try JSON.decode(JSONValue.self, from: text, depthLimit: nesting)
        } catch {
            throw WireError(expected: "a message", found: "\(error)")
        }
    }
}

/// A message that can't be decoded: the other side has another version, or is broken.
struct WireError: Error, Hashable, CustomStringConvertible {
    /// The expected content.
    let expected: String
    /// The content that was found.
    let found: String

    var description: String { "expected \(expected), found \(found)" }
}

/// Binary data as a text.
enum Base64 {
    static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The data that a text holds; nil: it is no such text.
    static func bytes(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }
}
