internal import JSONCodec
internal import NIOCore

/// A connection's calls in progress, and their replies.
///
/// It runs no actions itself: it returns those that the caller must run. What each call asks of it is a mutation, or
/// short enough to be inlined: to call anything else, the compiler would copy the value, which costs as much as 3 % of
/// a call.
struct CallsUnderWay {
    /// The call that no later one is started beside: one with `more`, or with `upgrade`.
    struct Alone {
        let id: UInt64

        /// Its method's index in the table.
        let method: UInt16

        /// Whether the call wants to upgrade the connection, so that it is the last call.
        let wantsUpgrade: Bool

        /// Whether it has had a reply.
        fileprivate(set) var isAnswered: Bool

        /// Returns the state to resume the call in another process; nil if it can't be resumed (yet).
        fileprivate(set) var describe: (@Sendable () -> JSONObject?)?

        /// Whether it can't continue in another process.
        var isBoundHere: Bool { describe == nil }
    }

    /// The maximum memory of a call in progress, as a multiple of its frame: its parameters as values, the entry that
    /// is made of them, and the notifications of it.
    static var copies: Int { 4 }

    /// The calls that are to be answered, and their replies.
    var replies = ReplyQueue()
    private(set) var silent = SilentCalls()
    private(set) var alone: Alone?

    /// The call of another process that is to continue here.
    private var adopted: KeptState.Stream?

    /// The actions to run if the connection ends before the call does, by call.
    private var atClose: [UInt64: [@Sendable () -> Void]] = [:]

    /// The actions to run when the rights of peers have changed, by call.
    private var atReview: [UInt64: @Sendable () -> Void] = [:]

    /// The actions to run, once each, when the peer keeps up.
    private var whenWritable: [WritableAction] = []

    /// Whether a call wants to be notified that the peer keeps up.
    var awaitsPeer: Bool { !whenWritable.isEmpty }

    var count: Int { replies.count + silent.count }

    /// The number of bytes of their frames.
    var bytes: Int { replies.callBytes + silent.bytes }

    /// The maximum memory that they take.
    var memory: Int { bytes * Self.copies }

    /// Whether all calls have been answered but the one that runs alone.
    var areAnswered: Bool { count == (alone == nil ? 0 : 1) }

    /// Whether a call of another process is to continue here.
    var hasAdopted: Bool { adopted != nil }

    /// The methods of the calls that have had no reply, by their places in the table.
    var unanswered: [UInt16] {
        replies.openCalls.filter { $0.id != alone?.id || alone?.isAnswered == false }
            .map(\.method)
    }

    /// Adds a call, as the last one; returns its id among those of its kind, and its kind.
    @inline(__always)
    mutating func open(
        _ header: CallHeader, _ method: UInt16, bytes: Int
    ) -> (id: UInt64, kind: CallSlot.Kind) {
        if header.isOneway { return (silent.open(bytes: bytes), .oneway) }
        let id = replies.open(method, bytes: bytes)
        guard header.wantsMore || header.wantsUpgrade else { return (id, .single) }
        alone = Alone(
            id: id, method: method, wantsUpgrade: header.wantsUpgrade, isAnswered: false)
        return (id, header.wantsMore ? .more : .upgrade)
    }

    /// Keeps the call of another process until it is opened here.
    mutating func adopt(_ stream: KeptState.Stream?) { adopted = stream }

    /// Returns the call of another process, which is opened here next; nil: there is none.
    mutating func takeAdopted() -> KeptState.Stream? {
        defer { adopted = nil }
        return adopted
    }

    /// Adds the call of another process, which has measured it already.
    mutating func openAdopted(_ method: UInt16) -> UInt64 {
        let id = replies.open(method)
        alone = Alone(id: id, method: method, wantsUpgrade: false, isAnswered: true)
        return id
    }

    /// Records a reply of the call that runs alone; returns whether it is the first one.
    mutating func answerAlone() -> Bool {
        defer { alone?.isAnswered = true }
        return alone?.isAnswered == false
    }

    /// Sets the closure that describes how the call that runs alone continues in another process.
    mutating func describe(_ id: UInt64, _ describe: @escaping @Sendable () -> JSONObject?) {
        if alone?.id == id { alone?.describe = describe }
    }

    mutating func onClose(_ id: UInt64, _ action: @escaping @Sendable () -> Void) {
        atClose[id, default: []].append(action)
    }

    mutating func onReview(_ id: UInt64, _ action: @escaping @Sendable () -> Void) {
        atReview[id] = action
    }

    mutating func onWritable(_ action: WritableAction) { whenWritable.append(action) }

    /// A call has ended, and wants nothing any more.
    mutating func end(_ slot: CallSlot) {
        let id = slot.id
        if slot.kind == .oneway { return silent.end(id) }
        replies.end(id)
        if alone?.id == id { alone = nil }
        if !atClose.isEmpty { atClose[id] = nil }
        if !atReview.isEmpty { atReview[id] = nil }
    }

    /// The actions to run after the rights of peers have changed, in the order of the calls.
    var reviews: [@Sendable () -> Void] {
        atReview.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Removes and returns the actions to run while the peer keeps up.
    mutating func takeWritable() -> [WritableAction] {
        var actions: [WritableAction] = []
        swap(&actions, &whenWritable)
        return actions
    }

    /// Takes back the array of ``takeWritable()``, to reuse its memory.
    mutating func giveBack(_ actions: inout [WritableAction]) {
        guard whenWritable.isEmpty else { return }
        actions.removeAll(keepingCapacity: true)
        swap(&actions, &whenWritable)
    }

    /// Ends all calls, because the connection has ended; returns the actions to run, in the order of the calls.
    mutating func close() -> [@Sendable () -> Void] {
        let actions = atClose.sorted { $0.key < $1.key }.flatMap(\.value)
        // Which call ran alone is still asked for; how it goes on holds the call, and that the connection.
        alone?.describe = nil
        (atClose, atReview, whenWritable) = ([:], [:], [])
        (replies, silent) = (ReplyQueue(), SilentCalls())
        return actions
    }
}

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

    /// Adds a call, as the last one; returns its id in the queue.
    mutating func open(_ method: UInt16 = 0, bytes: Int = 0) -> UInt64 {
        calls.append(Call(method: method, bytes: bytes))
        callBytes += bytes
        return firstID + UInt64(calls.count - 1)
    }

    /// Whether this call has not ended.
    func isOpen(_ id: UInt64) -> Bool {
        if isFirst(id) { return true }
        guard let position = position(of: id) else { return false }
        return !calls[position].hasEnded
    }

    /// Adds a part of a call's replies.
    ///
    /// Does nothing if the call has ended.
    mutating func append(_ bytes: UnsafeRawBufferPointer, to id: UInt64) {
        if isFirst(id) {
            ready.writeBytes(bytes)
            return
        }
        guard let position = position(of: id), !calls[position].hasEnded else { return }
        heldBytes += bytes.count
        if calls[position].held == nil { calls[position].held = ByteBuffer() }
        calls[position].held?.writeBytes(bytes)
    }

    /// Adds frames that others are answered with too: their memory is shared where nothing waits
    /// before them.
    ///
    /// Does nothing if the call has ended.
    mutating func append(sharing frames: ByteBuffer, to id: UInt64) {
        guard isFirst(id), ready.readableBytes == 0 else {
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

    /// Whether this is the first call that has not ended, as most are that are answered.
    @inline(__always)
    private func isFirst(_ id: UInt64) -> Bool { id == firstID && !calls.isEmpty }

    private func position(of id: UInt64) -> CircularBuffer<Call>.Index? {
        guard id >= firstID, id < firstID + UInt64(calls.count) else { return nil }
        return calls.index(calls.startIndex, offsetBy: Int(id - firstID))
    }
}

/// The calls of a connection that are not to be answered, until they have ended.
struct SilentCalls {
    /// The number of bytes of each call's frame.
    private var open: [UInt64: Int] = [:]
    private var last: UInt64 = 0

    /// The number of bytes of all calls.
    private(set) var bytes = 0

    /// The number of calls that have not ended.
    var count: Int { open.count }

    /// Adds a call, and returns its id.
    mutating func open(bytes: Int) -> UInt64 {
        last += 1
        open[last] = bytes
        self.bytes += bytes
        return last
    }

    /// Whether this call has not ended.
    func isOpen(_ id: UInt64) -> Bool { open[id] != nil }

    /// Ends a call; does nothing if it has ended.
    mutating func end(_ id: UInt64) { bytes -= open.removeValue(forKey: id) ?? 0 }
}
