import JSONCodec

/// A varlink message: JSON and a NUL.
enum Frame {
    /// A call, ready to be written to the socket.
    static func call(_ method: String, _ parameters: JSONValue = .object([])) -> [UInt8] {
        var bytes = JSON.encode(
            JSONValue.object([
                .init("method", .string(method)), .init("parameters", parameters),
            ]))
        bytes.append(0)
        return bytes
    }

    /// The parameters of a reply.
    ///
    /// - Throws: ``BenchmarkError`` where the reply is an error.
    static func parameters(of reply: [UInt8]) throws -> JSONValue {
        try check(reply)
        return try JSON.decode(JSONValue.self, from: reply)["parameters"] ?? .object([])
    }

    /// Makes sure that a reply is none of the errors.
    ///
    /// The daemon writes `error` before all else: one look at the first bytes tells.
    static func check(_ reply: [UInt8]) throws {
        guard !reply.starts(with: errorMark) else {
            throw BenchmarkError("the daemon answered \(String(decoding: reply, as: UTF8.self))")
        }
    }

    private static let errorMark = Array("{\"error\":".utf8)
}
