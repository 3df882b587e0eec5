internal import NIOCore

/// Puts the replies of a connection in the order of its calls.
///
/// Calls may be answered in any order. Replies to the first unanswered call can be sent at once; replies to later calls
/// are held until all calls before them have ended. A pure value: it does no I/O.
struct ReplyQueue {
    /// The bytes that may be sent, in order.
    private(set) var ready = ByteBuffer()

    /// Whether others hold the memory of `ready` too.
    private var isReadyShared = false

    /// The number of bytes that wait for an earlier call to end.
    private(set) var heldBytes = 0

    /// The number of bytes of the calls that have not ended.
    private(set) var callBytes = 0

    private var calls = CircularBuffer<Call>()
    private var firstID: UInt64 = 0

    private struct Call {
        let method: UInt16
        let bytes: Int
        var held: ByteBuffer?
        var hasEnded = false
    }

    /// Calls that have not left the queue.
    var count: Int { calls.count }

    /// Whether there are neither calls nor replies.
    var isEmpty: Bool { calls.isEmpty && ready.readableBytes == 0 }

    /// The number of bytes that wait to be sent.
    var waitingBytes: Int { ready.readableBytes + heldBytes }

    /// The calls that have not ended, each with its method's place in the table.
    var openCalls: [(id: UInt64, method: UInt16)] {
        calls.enumerated().filter { !$0.element.hasEnded }
            .map { (firstID + UInt64($0.offset), $0.element.method) }
    }

    /// Adds a call, as the last one.
    ///
    /// - Parameters:
    ///   - method: The method's index in the table.
    ///   - bytes: The size of the call's frame.
    /// - Returns: The call's id in the queue.
    mutating func open(_ method: UInt16 = 0, bytes: Int = 0) -> UInt64 {
        calls.append(Call(method: method, bytes: bytes))
        callBytes += bytes
        return firstID + UInt64(calls.count - 1)
    }

    /// Whether this call has not ended.
    func isOpen(_ id: UInt64) -> Bool {
        guard let position = position(of: id) else { return false }
        return !calls[position].hasEnded
    }

    /// Adds a part of a call's replies.
    ///
    /// Does nothing if the call has ended.
    mutating func append(_ bytes: UnsafeRawBufferPointer, to id: UInt64) {
        guard let position = position(of: id), !calls[position].hasEnded else { return }
        if position == calls.startIndex {
            ready.writeBytes(bytes)
            return
        }
        heldBytes += bytes.count
        if calls[position].held == nil { calls[position].held = ByteBuffer() }
        calls[position].held?.writeBytes(bytes)
    }

    /// Adds frames that others are answered with too: their memory is shared where nothing waits
    /// before them.
    ///
    /// Does nothing if the call has ended.
    mutating func append(sharing frames: ByteBuffer, to id: UInt64) {
        guard id == firstID, !calls.isEmpty, ready.readableBytes == 0 else {
            return frames.withUnsafeReadableBytes { append($0, to: id) }
        }
        ready = frames
        isReadyShared = true
    }

    /// Adds a frame that belongs to no call.
    mutating func append(last frame: [UInt8]) { ready.writeBytes(frame) }

    /// Removes and returns the ready bytes.
    mutating func takeReady() -> ByteBuffer {
        defer { (ready, isReadyShared) = (ByteBuffer(), false) }
        return ready
    }

    /// Drops the ready bytes, which were passed to the channel.
    mutating func clearReady() {
        // What was needed for one big reply is not kept, nor is what others hold: that would be
        // replaced, not used again.
        if isReadyShared || ready.capacity > 16 << 10 {
            ready = ByteBuffer()
            isReadyShared = false
        } else {
            // Usually all was written at once, and the memory is free to be used again.
            ready.clear(minimumCapacity: 0)
        }
    }

    /// Ends a call, and releases the replies that waited for it.
    ///
    /// Does nothing if it has ended.
    mutating func end(_ id: UInt64) {
        guard let position = position(of: id), !calls[position].hasEnded else { return }
        calls[position].hasEnded = true
        callBytes -= calls[position].bytes
        while let first = calls.first, first.hasEnded {
            calls.removeFirst()
            firstID += 1
            release()
        }
    }

    /// Releases the replies that the call which is now the first has made so far.
    private mutating func release() {
        guard !calls.isEmpty, var held = calls[calls.startIndex].held else { return }
        calls[calls.startIndex].held = nil
        heldBytes -= held.readableBytes
        ready.writeBuffer(&held)
    }

    private func position(of id: UInt64) -> CircularBuffer<Call>.Index? {
        guard id >= firstID, id < firstID + UInt64(calls.count) else { return nil }
        return calls.index(calls.startIndex, offsetBy: Int(id - firstID))
    }
}

/// One reply that one task waits for; only the first result counts, whether a reply or a cancellation.
///
/// Unchecked: it is used only on the client's event loop.
final class PendingReply<Answer: Sendable>: @unchecked Sendable {
    private var state = State.new

    private enum State {
        case new
        case waiting(CheckedContinuation<Answer, any Error>)
        case finished
    }

    /// Begins to wait.
    ///
    /// - Returns: Whether the reply is still to come; if not, the task continues with a `CancellationError`.
    func begin(_ continuation: CheckedContinuation<Answer, any Error>) -> Bool {
        guard case .new = state else {
            continuation.resume(throwing: CancellationError())
            return false
        }
        state = .waiting(continuation)
        return true
    }

    /// Ends the waiting; only the first time counts.
    func finish(_ answer: Result<Answer, any Error>) {
        let before = state
        state = .finished
        if case .waiting(let continuation) = before { continuation.resume(with: answer) }
    }
}
