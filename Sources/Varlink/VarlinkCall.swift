internal import JSONCodec
public import NIOCore

/// A call that is to be answered: where its reply goes.
///
/// Each call is ended exactly once, by ``reply(_:)`` or `fail(_:)`; a `oneway` call too, whose
/// answer is then dropped. It may be ended in the handler, later, or never if the peer goes first.
/// What is said after that is dropped.
///
/// Answering is possible from any thread; on the server's loop it only puts bytes aside, and
/// runs nobody else's code. Answers given elsewhere hop to the loop.
public struct VarlinkCall<Reply: VarlinkCodable>: Sendable {
    let slot: CallSlot

    /// Who calls.
    public var peer: Peer { slot.connection.peer }

    /// The connection that the call came on; no two connections of a server have the same number.
    public var connection: UInt64 { slot.connection.number }

    /// Whether the caller takes several replies.
    public var wantsMore: Bool { slot.kind == .more }

    /// Whether the caller takes no reply at all.
    public var isOneway: Bool { slot.kind == .oneway }

    /// Ends the call with its only or last reply.
    ///
    /// - Parameter reply: What it says.
    public func reply(_ reply: Reply) {
        if isElsewhere { return hop { self.reply(reply) } }
        slot.connection.answer(slot, isLast: true) { $0.writeReply(reply, continues: false) }
    }

    /// Adds a reply to a call with ``wantsMore``, which goes on.
    ///
    /// For any other call, which can have but one, it is the last.
    ///
    /// - Parameter reply: What it says.
    public func replyContinues(_ reply: Reply) {
        guard wantsMore else { return self.reply(reply) }
        if isElsewhere { return hop { self.replyContinues(reply) } }
        slot.connection.answer(slot, isLast: false) { $0.writeReply(reply, continues: true) }
    }

    /// Ends the call with an error.
    ///
    /// - Parameter error: The error.
    public func fail(_ error: some VarlinkErrorReply) {
        if isElsewhere { return hop { self.fail(error) } }
        slot.connection.fail(slot, error)
    }

    /// Ends the call with an error that is known by name alone, such as one passed on.
    ///
    /// - Parameter error: The error; its interface should declare it.
    public func fail(_ error: VarlinkRemoteError) {
        if isElsewhere { return hop { self.fail(error) } }
        slot.connection.fail(slot, error.name, error.parameters)
    }

    /// Adds replies that are encoded already, such as those that many subscribers share.
    ///
    /// A call without ``wantsMore`` is ended with `ExpectedMore` instead.
    ///
    /// - Parameter frames: One or several replies as ``frame(_:)`` makes them, one after the other.
    public func replyRaw(_ frames: [UInt8]) {
        guard wantsMore else { return fail(VarlinkService.ExpectedMore()) }
        if isElsewhere { return hop { self.replyRaw(frames) } }
        frames.withUnsafeBytes { slot.connection.answer(slot, with: $0) }
    }

    /// Adds replies that are encoded already, see ``replyRaw(_:)-([UInt8])``.
    ///
    /// - Parameter frames: One or several replies as ``frame(_:)`` makes them, one after the other.
    public func replyRaw(_ frames: ByteBuffer) {
        guard wantsMore else { return fail(VarlinkService.ExpectedMore()) }
        if isElsewhere { return hop { self.replyRaw(frames) } }
        frames.withUnsafeReadableBytes { slot.connection.answer(slot, with: $0) }
    }

    /// Encodes a reply that continues, to be shared by several calls.
    ///
    /// - Parameter reply: What it says.
    /// - Returns: The bytes for ``replyRaw(_:)-([UInt8])``, with their NUL.
    public static func frame(_ reply: Reply) -> [UInt8] {
        var writer = JSONWriter()
        writer.writeReply(reply, continues: true)
        writer.bytes.append(0)
        return writer.bytes
    }

    /// Has something run on the loop if the connection closes before the call has ended: at once if
    /// it is closed already.
    ///
    /// Never runs inside of an answer.
    ///
    /// - Parameter action: What to run, at most once.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        if isElsewhere { return hop { self.onClose(action) } }
        slot.connection.onClose(slot, action)
    }

    /// Whether the peer keeps up: less than ``VarlinkLimits/writableBytes`` wait for it.
    ///
    /// Once false, wait with ``onWritable(_:)``. To be asked on the loop only; false when the call
    /// has ended.
    public var isWritable: Bool {
        slot.connection.eventLoop.preconditionInEventLoop()
        return slot.connection.isOpen(slot) && slot.connection.isWritable
    }

    /// Bytes that wait to be sent on the connection.
    ///
    /// To be asked on the loop only.
    public var bytesQueued: Int {
        slot.connection.eventLoop.preconditionInEventLoop()
        return slot.connection.bytesQueued
    }

    /// Has something run on the loop, once, when the peer keeps up (again): never inside of this call,
    /// and not if the call ends first.
    ///
    /// - Parameter action: What to run.
    public func onWritable(_ action: @escaping @Sendable () -> Void) {
        if isElsewhere { return hop { self.onWritable(action) } }
        slot.connection.onWritable(slot, action)
    }

    private var isElsewhere: Bool { !slot.connection.eventLoop.inEventLoop }

    private func hop(_ action: @escaping @Sendable () -> Void) {
        slot.connection.eventLoop.execute(action)
    }
}

extension JSONWriter {
    /// Writes a reply, without its NUL.
    mutating func writeReply(_ reply: some VarlinkCodable, continues: Bool) {
        beginObject()
        key("parameters")
        reply.write(to: &self)
        if continues {
            key("continues")
            bool(true)
        }
        endObject()
    }

    /// Writes an error, without its NUL.
    mutating func writeError(_ name: String, _ parameters: some JSONWritable) {
        beginObject()
        key("error")
        string(name)
        key("parameters")
        parameters.write(to: &self)
        endObject()
    }
}
