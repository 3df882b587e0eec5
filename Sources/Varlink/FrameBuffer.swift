internal import Glibc
internal import NIOCore

/// Cuts the bytes that arrive into frames, however they were split or joined on the way.
struct FrameBuffer {
    private var buffer = ByteBuffer()

    /// The number of the buffer's first bytes that were searched and contain no NUL.
    private var searched = 0

    /// The maximum number of bytes in a frame, without its NUL.
    var limit: Int

    /// - Parameter limit: Bytes in a frame, without its NUL.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes that are not cut into frames yet.
    var count: Int { buffer.readableBytes }

    /// The bytes that are not cut into frames yet.
    var waiting: ByteBufferView { buffer.readableBytesView }

    /// Adds bytes that have arrived.
    ///
    /// If the buffer is empty, which is the usual case, it takes over their memory.
    mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            searched = 0
            return
        }
        var bytes = bytes
        buffer.discardReadBytes()
        buffer.writeBuffer(&bytes)
    }

    /// The next whole frame, without its NUL; nil when it has not arrived yet.
    mutating func next() throws(ProtocolViolation) -> ByteBuffer? {
        guard let length = distanceToEnd() else {
            searched = buffer.readableBytes
            guard searched <= limit else { throw .frameTooLong(limit: limit) }
            return nil
        }
        guard length <= limit else { throw .frameTooLong(limit: limit) }
        let frame = buffer.readSlice(length: length)
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        // Gives the memory back; the frame keeps its own hold on it.
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return frame
    }

    /// Drops all bytes.
    mutating func removeAll() {
        buffer = ByteBuffer()
        searched = 0
    }

    /// Removes and returns the bytes not yet cut into frames.
    mutating func takeAll() -> ByteBuffer {
        defer { removeAll() }
        return buffer
    }

    private func distanceToEnd() -> Int? {
        let searched = searched
        return buffer.withUnsafeReadableBytes { bytes in
            guard bytes.count > searched, let base = bytes.baseAddress,
                let end = memchr(base + searched, 0, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(end) - base
        }
    }
}
