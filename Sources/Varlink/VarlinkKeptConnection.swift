internal import Glibc
public import JSONCodec

/// A connection that passes from one process to another: its socket, and the server's state for it.
///
/// The socket is passed as a descriptor (systemd's fd store, a control message of a Unix socket). The state is passed
/// beside it, as JSON; ``identity`` matches states with sockets.
public struct VarlinkKeptConnection: Sendable {
    /// The connected socket; the owner of the value closes it, or has a server adopt it.
    public let descriptor: Int32

    /// The server's state of the connection, for ``VarlinkServer/adopt(_:)``.
    public let state: JSONObject

    /// A number that identifies the socket on this machine, in whichever process it is.
    public let identity: UInt64

    /// Orders connections by when they were last written to; it has no other meaning.
    public let lastUse: Int

    /// Creates a connection from its socket and state; nil if the descriptor is no socket.
    ///
    /// - Parameters:
    ///   - descriptor: The connected socket.
    ///   - state: The state that was handed over with it.
    public init?(descriptor: Int32, state: JSONObject) {
        guard let identity = Self.identity(of: descriptor) else { return nil }
        self.init(descriptor: descriptor, state: state, identity: identity, lastUse: 0)
    }

    /// The user that was at the other end, as it was written down; nil: it was not.
    public var uid: UInt32? { state.value["uid"]?.int.flatMap { UInt32(exactly: $0) } }

    init(descriptor: Int32, state: JSONObject, identity: UInt64, lastUse: Int) {
        self.descriptor = descriptor
        self.state = state
        self.identity = identity
        self.lastUse = lastUse
    }

    /// A socket's identity: the kernel's own number (`SO_COOKIE`), which no later socket gets.
    ///
    /// - Parameter descriptor: Any descriptor.
    /// - Returns: The number; nil where it is no socket.
    public static func identity(of descriptor: Int32) -> UInt64? {
        var cookie: UInt64 = 0
        var size = socklen_t(MemoryLayout<UInt64>.size)
        let status = getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size)
        return status == 0 ? cookie : nil
    }
}

/// The server's state of a kept connection, as it is encoded.
struct KeptState {
    var uid: UInt32
    var gid: UInt32
    var calls: Int
    /// The bytes that had arrived and were not processed.
    var bytes: [UInt8] = []
    /// The call with `more` that is under way.
    var stream: Stream?

    struct Stream {
        var method: String
        var state: JSONObject
    }

    /// The maximum number of bytes of a connection that are handed over; a sender with more has to begin again.
    ///
    /// A batch of records that is being imported has up to 1 MiB.
    static var mostBytes: Int { 2 << 20 }

    /// The maximum number of bytes of all connections that are handed over.
    static var mostBytesInAll: Int { 64 << 20 }

    init(peer: Peer, calls: Int) {
        uid = peer.uid
        gid = peer.gid
        self.calls = calls
    }

    init?(_ object: JSONObject) {
        let value = object.value
        guard let uid = value["uid"]?.int, let gid = value["gid"]?.int,
            let calls = value["calls"]?.int, let hex = value["bytes"]?.string,
            let bytes = Self.bytes(hex: hex)
        else { return nil }
        self.uid = UInt32(clamping: uid)
        self.gid = UInt32(clamping: gid)
        self.calls = calls
        self.bytes = bytes
        guard let stream = value["stream"] else { return }
        guard let method = stream["method"]?.string,
            let state = stream["state"].flatMap({ JSONObject($0) })
        else { return nil }
        self.stream = Stream(method: method, state: state)
    }

    var object: JSONObject {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("uid")
        writer.int(Int(uid))
        writer.key("gid")
        writer.int(Int(gid))
        writer.key("calls")
        writer.int(calls)
        writer.key("bytes")
        writer.string(Self.hex(bytes))
        if let stream {
            writer.key("stream")
            writer.beginObject()
            writer.key("method")
            writer.string(stream.method)
            writer.key("state")
            stream.state.write(to: &writer)
            writer.endObject()
        }
        writer.endObject()
        return JSONObject(checked: writer.bytes)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    private static func bytes(hex: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.utf8.count / 2)
        var high: UInt8?
        for digit in hex.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }
}
