public import JSONCodec
public import NIOCore

/// A call that a handler replies to.
///
/// A handler ends each call exactly once, by ``reply(_:)`` or `fail(_:)`; a `oneway` call too, whose reply is then
/// dropped. It may end the call at once, later, or never if the peer disconnects first. Replies after the end are
/// dropped.
///
/// Replies may be made on any thread. On the server's loop a reply is only queued, and runs no other code; from other
/// threads it hops to the loop.
public struct VarlinkCall<Reply: VarlinkCodable>: Sendable {
    let slot: CallSlot

    @usableFromInline
    init(slot: CallSlot) { self.slot = slot }

    /// The caller.
    public var peer: Peer { slot.connection.peer }

    /// The connection that the call came on; no two connections of a server have the same number.
    public var connection: UInt64 { slot.connection.number }

    /// The number of bytes of the call's message, without its NUL; 0 for a call that continues from another process.
    public var bytes: Int { Int(slot.bytes) }

    /// Whether the caller takes several replies.
    public var wantsMore: Bool { slot.kind == .more }

    /// Whether the caller takes no reply at all.
    public var isOneway: Bool { slot.kind == .oneway }

    /// Whether the caller wants to speak another protocol after the reply; only for methods for which the router
    /// allows it, see ``VarlinkRouter/allow(_:of:)``.
    public var wantsUpgrade: Bool { slot.kind == .upgrade }

    /// Ends the call with its only or last reply.
    ///
    /// A call with ``wantsUpgrade`` takes this for the beginning of another protocol: the connection is
    /// closed after it.
    ///
    /// - Parameter reply: The reply.
    public func reply(_ reply: Reply) {
        if isElsewhere { return hop { self.reply(reply) } }
        guard !wantsUpgrade else { return upgrade(reply) { _ in } }
        slot.answer(isLast: true) { $0.writeReply(reply, continues: false) }
    }

    /// Ends the call with its only reply, a whole frame that is encoded already.
    ///
    /// It is for methods whose calls can't ask for an upgrade.
    func reply(encoded frame: [UInt8]) {
        if isElsewhere { return hop { self.reply(encoded: frame) } }
        slot.answer(withLast: frame)
    }

    /// Adds a reply to a call with ``wantsMore``, which continues.
    ///
    /// For any other call, which has only one reply, it is the last.
    ///
    /// - Parameter reply: The reply.
    public func replyContinues(_ reply: Reply) {
        guard wantsMore else { return self.reply(reply) }
        if isElsewhere { return hop { self.replyContinues(reply) } }
        slot.answer(isLast: false) { $0.writeReply(reply, continues: true) }
    }

    /// Sends the replies made so far, as far as the peer takes them.
    ///
    /// Without this call they are sent at the end of the loop's turn, or later if there is much to do. It is for
    /// callers that may not return to the loop. Call it on the loop, and not from a handler.
    public func sendNow() {
        if !isElsewhere { slot.connection.flush() }
    }

    /// Ends the call with its reply, and hands the connection over to another protocol.
    ///
    /// A call without ``wantsUpgrade`` is ended with `ExpectedUpgrade` instead.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - then: Called on the loop with the connection, once the reply and those to all earlier calls are being sent;
    ///     not called if the peer disconnects before that. The connection returns all bytes that came after the call's
    ///     NUL.
    public func upgrade(
        _ reply: Reply, then: @escaping @Sendable (VarlinkRawConnection) -> Void
    ) {
        guard wantsUpgrade else { return fail(VarlinkService.ExpectedUpgrade()) }
        if isElsewhere { return hop { self.upgrade(reply, then: then) } }
        slot.upgrade({ $0.writeReply(reply, continues: false) }, then: then)
    }

    /// Ends the call with an error.
    ///
    /// - Parameter error: The error.
    public func fail(_ error: some VarlinkErrorReply) {
        if isElsewhere { return hop { self.fail(error) } }
        slot.fail(error)
    }

    /// Ends the call with an error that is known by name alone, such as one passed on.
    ///
    /// - Parameter error: The error; its interface should declare it.
    public func fail(_ error: VarlinkRemoteError) {
        if isElsewhere { return hop { self.fail(error) } }
        slot.fail(error.name, error.parameters)
    }

    /// Adds replies that are encoded already, such as those that many subscribers share.
    ///
    /// Nothing is copied where nothing else waits to be sent. A call without ``wantsMore`` is ended
    /// with `ExpectedMore` instead.
    ///
    /// - Parameter frames: One or several replies as ``frame(_:)`` makes them, one after the other.
    public func replyRaw(_ frames: ByteBuffer) {
        guard wantsMore else { return fail(VarlinkService.ExpectedMore()) }
        if isElsewhere { return hop { self.replyRaw(frames) } }
        slot.answer(with: frames)
    }

    /// Adds one reply whose end is encoded already, such as a reply that differs between callers only at its beginning.
    ///
    /// A call without ``wantsMore`` is ended with `ExpectedMore` instead.
    ///
    /// - Parameters:
    ///   - tail: The rest of the reply's frame, with its NUL.
    ///   - head: Writes the beginning of the frame.
    public func replyRaw(
        endingWith tail: [UInt8], _ head: @escaping @Sendable (inout JSONWriter) -> Void
    ) {
        guard wantsMore else { return fail(VarlinkService.ExpectedMore()) }
        if isElsewhere { return hop { self.replyRaw(endingWith: tail, head) } }
        slot.answer(endingWith: tail, head)
    }

    /// Encodes a reply that continues, to be shared by several calls.
    ///
    /// - Parameter reply: The reply.
    /// - Returns: The bytes for ``replyRaw(_:)-(ByteBuffer)``, with their NUL.
    public static func frame(_ reply: Reply) -> ByteBuffer {
        var writer = JSONWriter()
        writer.writeReply(reply, continues: true)
        writer.endMessage()
        return ByteBuffer(bytes: writer.bytes)
    }

    /// Runs an action on the loop if the connection closes before the call has ended; if it is closed already, at once.
    ///
    /// The action never runs inside of a reply.
    ///
    /// - Parameter action: The action, which runs at most once.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        if isElsewhere { return hop { self.onClose(action) } }
        slot.onClose(action)
    }

    /// Whether somebody waits for a reply: the call has not ended, and its connection takes replies.
    ///
    /// Ask it before more work is done for the call. Use it on the loop only.
    public var isAwaited: Bool {
        slot.connection.eventLoop.preconditionInEventLoop()
        return slot.isOpen
    }

    /// Whether the peer keeps up: less than ``VarlinkLimits/writableBytes`` wait to be sent to it.
    ///
    /// If it is false, wait with ``onWritable(_:)``. Use it on the loop only. It is false once the call has ended.
    public var isWritable: Bool {
        slot.connection.eventLoop.preconditionInEventLoop()
        return slot.isOpen && slot.connection.isWritable
    }

    /// The number of bytes that wait to be sent on the connection.
    ///
    /// Use it on the loop only.
    public var bytesQueued: Int {
        slot.connection.eventLoop.preconditionInEventLoop()
        return slot.connection.bytesQueued
    }

    /// Runs an action on the loop, once, when the peer keeps up again.
    ///
    /// It never runs inside of this call, and does not run if the call ends before that.
    ///
    /// - Parameter action: The action.
    public func onWritable(_ action: @escaping @Sendable () -> Void) {
        if isElsewhere { return hop { self.onWritable(action) } }
        slot.onWritable(action)
    }

    /// Runs an action on the loop each time the rights of peers have changed (``VarlinkServer/review(after:)``), until
    /// the call ends.
    ///
    /// It is for calls that are replied to later: what was allowed when the call came may not be allowed any more.
    ///
    /// - Parameter action: The action, which may end the call. A call has one: a later one replaces it.
    public func onReview(_ action: @escaping @Sendable () -> Void) {
        if isElsewhere { return hop { self.onReview(action) } }
        slot.onReview(action)
    }

    private var isElsewhere: Bool { !slot.connection.eventLoop.inEventLoop }

    private func hop(_ action: @escaping @Sendable () -> Void) {
        slot.connection.eventLoop.execute(action)
    }
}

/// The destination of a call's replies: a connection, and the call's place in it.
///
/// It holds only a reference and a few numbers, so keeping one costs nothing.
@usableFromInline
struct CallSlot: Sendable {
    let connection: Connection
    let id: UInt64
    let kind: Kind

    /// The method's index in the table; `table.count` for unknown methods.
    let method: UInt16

    /// The number of bytes of its frame.
    let bytes: UInt32

    /// The time at which the call was read, in nanoseconds; 0 if calls are not measured.
    let started: Int64

    /// The replies that the caller expects.
    enum Kind: UInt8, Sendable {
        /// One reply.
        case single
        /// Any number of replies.
        case more
        /// No reply.
        case oneway
        /// One reply, after which the connection speaks another protocol.
        case upgrade
    }
}

/// An action that a call runs when its peer keeps up.
///
/// It is a type of its own because a closure in a tuple would be wrapped anew, with memory of its own, each time it is
/// kept in an array.
struct WritableAction {
    let slot: CallSlot
    let run: @Sendable () -> Void
}

// MARK: - What a call asks of its connection

extension CallSlot {
    /// Whether the call can still be answered.
    @inline(__always)
    var isOpen: Bool {
        guard connection.state.takesReplies else { return false }
        return kind == .oneway
            ? connection.calls.silent.isOpen(id) : connection.calls.replies.isOpen(id)
    }

    /// Answers with one frame that `encode` writes, without its NUL.
    func answer(isLast: Bool, error: String? = nil, _ encode: (inout JSONWriter) -> Void) {
        guard isOpen else { return }
        if kind != .oneway {
            var writer = connection.server.takeWriter()
            encode(&writer)
            writer.endMessage()
            writer.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
            connection.server.giveBack(writer)
        }
        count(error)
        if isLast { connection.calls.end(self) }
        connection.settleReply()
    }

    /// Answers with one whole frame, which is the last.
    func answer(withLast frame: [UInt8]) {
        guard isOpen else { return }
        if kind != .oneway {
            frame.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
        }
        count(nil)
        connection.calls.end(self)
        connection.settleReply()
    }

    /// Sends encoded frames as replies; the call continues.
    func answer(with frames: ByteBuffer) {
        guard isOpen else { return }
        connection.calls.replies.append(sharing: frames, to: id)
        count(nil)
        connection.settleReply()
    }

    /// Sends one reply, of which `encode` writes the beginning and `tail` is the rest with its NUL; the call continues.
    func answer(endingWith tail: [UInt8], _ encode: (inout JSONWriter) -> Void) {
        guard isOpen else { return }
        var writer = connection.server.takeWriter()
        encode(&writer)
        if tail.count > Self.bigTail {
            // Memory of its own, which goes once it is sent: the connection's would stay.
            var frame = ByteBufferAllocator().buffer(capacity: writer.count + tail.count)
            _ = writer.withUnsafeBytes { frame.writeBytes($0) }
            frame.writeBytes(tail)
            connection.calls.replies.append(sharing: frame, to: id)
        } else {
            writer.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
            tail.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
        }
        connection.server.giveBack(writer)
        count(nil)
        connection.settleReply()
    }

    /// The number of bytes from which on the end of a reply gets memory of its own.
    private static var bigTail: Int { 4 << 10 }

    /// Ends the call with an error.
    func fail<Failure: VarlinkErrorReply>(_ error: Failure) { fail(Failure.name, error) }

    /// Ends the call with an error that is known by name.
    func fail(_ name: String, _ parameters: some JSONWritable) {
        guard isOpen else { return }
        connection.server.statistics.errors += 1
        answer(isLast: true, error: name) { $0.writeError(name, parameters) }
    }

    /// Answers with one reply, after which the connection speaks another protocol.
    func upgrade(
        _ encode: (inout JSONWriter) -> Void,
        then: @escaping @Sendable (VarlinkRawConnection) -> Void
    ) {
        guard kind == .upgrade, isOpen else { return }
        answer(isLast: true, encode)
        connection.state.upgrade(then)
    }

    func onClose(_ action: @escaping @Sendable () -> Void) {
        if connection.state.isClosed { return connection.eventLoop.execute(action) }
        // Of a connection that is about to close too: its end is yet to come.
        guard kind != .oneway, connection.calls.replies.isOpen(id) else { return }
        connection.calls.onClose(id, action)
    }

    func onWritable(_ action: @escaping @Sendable () -> Void) {
        guard isOpen else { return }
        connection.calls.onWritable(WritableAction(slot: self, run: action))
        connection.schedule()
    }

    func onReview(_ action: @escaping @Sendable () -> Void) {
        guard kind != .oneway, isOpen else { return }
        connection.calls.onReview(id, action)
    }

    /// Sets the closure that describes how the call continues in another process.
    func onHandOver(_ describe: @escaping @Sendable () -> JSONObject?) {
        guard kind == .more, isOpen else { return }
        connection.calls.describe(id, describe)
    }

    /// Counts the call with its first reply, because the caller does not wait for later ones.
    @inline(__always)
    private func count(_ error: String?) {
        guard let meters = connection.server.meters else { return }
        if kind == .more, !connection.calls.answerAlone() { return }
        meters.record(self, error: error)
    }
}
