internal import Interfaces
internal import JSONCodec

// Splits a large message of a worker into pieces, so that no frame takes the daemon's loop longer than another.
extension Worker.Attach.Reply {
    /// The most bytes of a message that is sent whole, and the size of a piece of a larger one.
    static let pieceBytes = 256 << 10

    /// Returns the replies that carry a message, in order.
    static func carrying(_ message: JSONObject, id: Int?) -> [Worker.Attach.Reply] {
        let bytes = message.bytes
        guard bytes.count > pieceBytes else { return [.init(id: id, message: message)] }
        var replies: [Worker.Attach.Reply] = []
        var start = 0
        while start < bytes.count {
            var end = min(start + pieceBytes, bytes.count)
            // Don't split a UTF-8 sequence.
            while end < bytes.count, bytes[end] & 0xc0 == 0x80 { end -= 1 }
            replies.append(
                .init(
                    id: id, piece: String(decoding: bytes[start..<end], as: UTF8.self),
                    isLast: end == bytes.count))
            start = end
        }
        return replies
    }
}
