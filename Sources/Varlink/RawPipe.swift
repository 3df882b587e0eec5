internal import NIOCore

/// The bytes of an upgraded connection, between the channel that brings them and the task that pulls them.
///
/// If more than a little waits, the channel is not read any more, so the rest stays with the peer.
///
/// Unchecked: everything but `let`s is used only on the event loop.
final class RawPipe: @unchecked Sendable {
    /// The number of waiting bytes from which on the channel is not read any more.
    static let capacity = 64 << 10

    let channel: any Channel
    private var waiting: ByteBuffer
    private var reader: CheckedContinuation<[UInt8]?, any Error>?
    private var isOver = false

    /// Creates a pipe over a channel, from which some bytes have arrived already.
    init(_ channel: any Channel, startingWith bytes: ByteBuffer) {
        self.channel = channel
        waiting = bytes
    }

    /// Whether the channel should be read from.
    var wantsBytes: Bool { waiting.readableBytes < Self.capacity }

    /// Adds bytes that have arrived.
    func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        waiting.writeBuffer(&bytes)
        answerReader()
    }

    /// Records that no more bytes will arrive.
    func end() {
        isOver = true
        answerReader()
    }

    /// Returns the bytes that have arrived, or waits for some; nil at the end.
    func read() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                channel.eventLoop.execute { self.read(reader) }
            }
        } onCancel: {
            channel.eventLoop.execute { self.cancelRead() }
        }
    }

    private func read(_ reader: CheckedContinuation<[UInt8]?, any Error>) {
        guard self.reader == nil else {
            return reader.resume(
                throwing: VarlinkConnectionError(.other, "two tasks read from one connection"))
        }
        self.reader = reader
        answerReader()
    }

    private func answerReader() {
        guard let reader, isOver || waiting.readableBytes > 0 else { return }
        self.reader = nil
        let bytes = waiting.readBytes(length: waiting.readableBytes) ?? []
        waiting = ByteBuffer()
        reader.resume(returning: bytes.isEmpty ? nil : bytes)
        channel.read()
    }

    private func cancelRead() {
        reader?.resume(throwing: CancellationError())
        reader = nil
    }
}
