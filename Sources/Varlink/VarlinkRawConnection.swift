internal import NIOCore

/// A connection that was upgraded: the bytes of another protocol, from the first one after the NUL of the
/// call (for a service) or of the reply (for a client).
///
/// ```swift
/// while let bytes = try await connection.read() {
///     try await connection.write(bytes)
/// }
/// await connection.close()
/// ```
///
/// It is closed with its last reference.
public final class VarlinkRawConnection: Sendable {
    private let pipe: RawPipe

    init(_ pipe: RawPipe) {
        self.pipe = pipe
    }

    deinit {
        pipe.channel.close(promise: nil)
    }

    /// Returns the bytes that have arrived; waits if there are none.
    ///
    /// Bytes that are not read stay with the peer. One task may read at a time.
    ///
    /// - Returns: At least one byte; nil if the peer has shut down its sending side.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func read() async throws -> [UInt8]? {
        try await pipe.read()
    }

    /// Sends bytes, and waits until the kernel has taken them.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: ``VarlinkConnectionError`` when the connection has ended.
    public func write(_ bytes: some Sequence<UInt8>) async throws {
        do {
            try await pipe.channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        } catch {
            throw VarlinkConnectionError(.closed, "the connection has ended: \(error)")
        }
    }

    /// Ends this side's part; the peer's can still be read.
    public func finish() async {
        try? await pipe.channel.close(mode: .output).get()
    }

    /// Closes.
    ///
    /// Does nothing when it is closed.
    public func close() async {
        try? await pipe.channel.close().get()
    }
}
