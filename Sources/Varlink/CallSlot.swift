internal import JSONCodec
internal import NIOCore

/// The destination of a call's replies: a connection, and the call's place in it.
///
/// It holds only a reference and a few numbers, so keeping one costs nothing.
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

// MARK: - What a call asks for

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
            // The memory is moved out while it is written to: a second owner would copy it.
            var writer = JSONWriter(appendingTo: connection.server.takeScratch())
            encode(&writer)
            writer.bytes.append(0)
            writer.bytes.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
            connection.server.giveBack(scratch: &writer.bytes)
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
        var writer = JSONWriter(appendingTo: connection.server.takeScratch())
        encode(&writer)
        if tail.count > Self.bigTail {
            // Memory of its own, which goes once it is sent: the connection's would stay.
            var frame = ByteBufferAllocator().buffer(capacity: writer.bytes.count + tail.count)
            frame.writeBytes(writer.bytes)
            frame.writeBytes(tail)
            connection.calls.replies.append(sharing: frame, to: id)
        } else {
            writer.bytes.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
            tail.withUnsafeBytes { connection.calls.replies.append($0, to: id) }
        }
        connection.server.giveBack(scratch: &writer.bytes)
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
