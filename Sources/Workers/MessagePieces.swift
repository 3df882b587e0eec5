internal import Interfaces
internal import JSONCodec

// A worker's message on its way: whole, or where it is big in pieces, so that no frame takes the daemon's
// loop longer than another.
extension Worker.Attach.Reply {
    /// Up to how many bytes a message is sent whole, and how many a piece has.
    static let pieceBytes = 256 << 10

    /// The replies that carry a message, in order.
    static func carrying(_ message: JSONObject, id: Int?) -> [Worker.Attach.Reply] {
        let bytes = message.bytes
        guard bytes.count > pieceBytes else { return [.init(id: id, message: message)] }
        var replies: [Worker.Attach.Reply] = []
        var start = 0
        while start < bytes.count {
            var end = min(start + pieceBytes, bytes.count)
            // Not amid a character.
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
