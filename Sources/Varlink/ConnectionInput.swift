/// The bytes that a connection has received, and whether it is to receive more.
struct ConnectionInput {
    /// The bytes that are not processed yet.
    var frames: FrameBuffer

    /// Whether the read under way has brought bytes.
    private var hasRead = false

    /// Whether the channel wanted to read, and has to wait until bytes can be processed.
    private(set) var isReadHeld = false

    /// Whether the peer has shut down its sending side.
    private(set) var hasEnded = false

    init(frameBytes: Int) { frames = FrameBuffer(limit: frameBytes) }

    /// The read under way brings bytes.
    mutating func beginRead() { hasRead = true }

    /// The read under way is over; returns whether it has brought bytes.
    mutating func endRead() -> Bool {
        defer { hasRead = false }
        return hasRead
    }

    /// The channel has to wait with its next read.
    mutating func holdRead() { isReadHeld = true }

    /// The channel may read.
    mutating func releaseRead() { isReadHeld = false }

    mutating func end() { hasEnded = true }
}
