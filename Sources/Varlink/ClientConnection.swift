internal import JSONCodec
internal import NIOCore

/// The client's end of one connection: calls go out in order, replies belong to the first open call.
///
/// Unchecked: everything but `let`s is guarded by the event loop, on which alone it is touched.
final class ClientConnection: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a call is told, on the loop.
    ///
    /// The bytes of a reply's parameters are valid while it is.
    enum Event {
        case reply(UnsafeRawBufferPointer, continues: Bool)
        case failure(any Error)
    }

    /// A call without its last reply.
    struct OpenCall {
        let wantsMore: Bool
        let tell: @Sendable (Event) -> Void
    }

    let eventLoop: any EventLoop
    private let nesting: Int

    private var context: ChannelHandlerContext?
    private var frames: FrameBuffer
    private var calls = CircularBuffer<OpenCall>()
    private var unsent = ByteBuffer()
    private var isFlushScheduled = false

    /// Whether replies are to wait, because a stream's reader does not keep up.
    private(set) var isHeld = false
    private var isReadHeld = false
    private var isDelivering = false
    private var end: (any Error)?

    init(eventLoop: any EventLoop, limits: VarlinkLimits) {
        self.eventLoop = eventLoop
        nesting = limits.nesting
        frames = FrameBuffer(limit: limits.frameBytes)
    }

    /// Sends a call, with its NUL, at the end of this turn.
    ///
    /// Nobody is told of a `oneway` one.
    func send(_ frame: [UInt8], _ call: OpenCall?) {
        if let end {
            call?.tell(.failure(end))
            return
        }
        if let call { calls.append(call) }
        unsent.writeBytes(frame)
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        eventLoop.execute { [self] in flush() }
    }

    /// Has replies wait, or come again.
    func hold(_ isHeld: Bool) {
        self.isHeld = isHeld
        guard !isHeld else { return }
        deliver()
        if isReadHeld, !self.isHeld {
            isReadHeld = false
            context?.read()
        }
    }

    /// Closes; open calls fail.
    func close(_ error: any Error = VarlinkConnectionError.closed) {
        end = end ?? error
        isHeld = false
        context?.close(promise: nil)
        failCalls()
    }

    private func flush() {
        isFlushScheduled = false
        guard let context, unsent.readableBytes > 0 else { return }
        context.writeAndFlush(Self.wrapOutboundOut(unsent), promise: nil)
        unsent.clear(minimumCapacity: 0)
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        do throws(ProtocolViolation) {
            while !isHeld, let frame = try frames.next() { try deliver(frame) }
        } catch {
            frames.removeAll()
            close(VarlinkConnectionError(.protocolViolation, "the service sent \(error)"))
        }
        if !isHeld, end != nil { failCalls() }
    }

    private func deliver(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                try deliver(ReplyHeader(bytes, nesting: nesting))
            }
        }
        try outcome.get()
    }

    private func deliver(_ reply: ReplyHeader) throws(ProtocolViolation) {
        guard let call = calls.first else {
            throw .unexpectedReply("a reply that belongs to no call")
        }
        guard call.wantsMore || !reply.continues else {
            throw .unexpectedReply("a reply that continues, to a call without more")
        }
        if !reply.continues { calls.removeFirst() }
        guard let name = reply.error else {
            let parameters = reply.parameters ?? ClientConnection.noParameters
            return call.tell(.reply(parameters, continues: reply.continues))
        }
        // All of the frame was checked: reading the object again does not fail.
        let parameters = reply.parameters.flatMap { try? JSON.decode(JSONObject.self, from: $0) }
        call.tell(.failure(VarlinkRemoteError(name: name, parameters: parameters ?? .empty)))
    }

    private func failCalls() {
        let error = end ?? VarlinkConnectionError.closed
        while let call = calls.popFirst() { call.tell(.failure(error)) }
    }

    /// What absent parameters are read from.
    ///
    /// A literal: its memory lives as long as the program.
    private static var noParameters: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

// MARK: - What the channel tells

extension ClientConnection {
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        frames.append(Self.unwrapInboundIn(data))
        deliver()
    }

    func read(context: ChannelHandlerContext) {
        guard !isHeld else {
            isReadHeld = true
            return
        }
        context.read()
    }

    /// Replies that have arrived are still handed out, then the calls without one fail.
    func channelInactive(context: ChannelHandlerContext) {
        end = end ?? VarlinkConnectionError.closed
        deliver()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end = end ?? VarlinkConnectionError(.closed, "the connection broke: \(error)")
        context.close(promise: nil)
    }
}
