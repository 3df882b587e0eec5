internal import JSONCodec
internal import NIOCore

/// The client's end of one connection: calls go out in order, replies belong to the first open call.
///
/// Unchecked: everything but `let`s is guarded by the event loop, on which alone it is touched.
final class ClientConnection: ChannelDuplexHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// An event of a call, delivered on the loop.
    ///
    /// The bytes of a reply's parameters are valid only while the event is delivered.
    enum Event {
        case reply(UnsafeRawBufferPointer, continues: Bool)
        /// The last reply, with the pipe of the protocol that follows it.
        case upgraded(UnsafeRawBufferPointer, RawPipe)
        case failure(any Error)
    }

    /// A call without its last reply.
    struct OpenCall {
        let kind: CallSlot.Kind
        let handler: @Sendable (Event) -> Void
    }

    let eventLoop: any EventLoop
    let limits: VarlinkLimits

    private var context: ChannelHandlerContext?
    private var frames: FrameBuffer
    private var calls = CircularBuffer<OpenCall>()
    private var unsent = ByteBuffer()
    private var isFlushScheduled = false
    private var isChannelWritable = true
    private var whenWritable = CircularBuffer<@Sendable () -> Void>()

    /// Whether the last call is one with `upgrade`, after which no other can be made.
    private var isUpgradeWanted = false
    private var pipe: RawPipe?

    /// Whether replies are to wait, because a stream's reader does not keep up.
    private(set) var isPaused = false
    private var isReadHeld = false
    private var isDelivering = false
    private var end: (any Error)?

    init(eventLoop: any EventLoop, limits: VarlinkLimits) {
        self.eventLoop = eventLoop
        self.limits = limits
        frames = FrameBuffer(limit: limits.frameBytes)
    }

    /// Sends a call, with its NUL, at the end of this turn.
    ///
    /// A `oneway` call has no `OpenCall`, since it has no reply.
    func send(_ frame: [UInt8], _ call: OpenCall?) {
        if let problem = end ?? (isUpgradeWanted ? VarlinkConnectionError.upgraded : nil) {
            call?.handler(.failure(problem))
            return
        }
        if let call { calls.append(call) }
        isUpgradeWanted = call?.kind == .upgrade
        unsent.writeBytes(frame)
        if bytesQueued > limits.queuedBytes {
            return close(VarlinkConnectionError.queueIsFull(limits.queuedBytes))
        }
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        eventLoop.execute { [self] in flush() }
    }

    /// Whether the service keeps up with the bytes that are sent to it.
    var isWritable: Bool {
        isChannelWritable && unsent.readableBytes < limits.writableBytes
    }

    /// Why no more calls can be made; nil while they can.
    var ended: (any Error)? { end }

    /// Runs an action when the service keeps up, or once the connection has ended.
    func onWritable(_ action: @escaping @Sendable () -> Void) {
        if end != nil || (isWritable && whenWritable.isEmpty) { return action() }
        whenWritable.append(action)
    }

    private var bytesQueued: Int {
        guard !isChannelWritable else { return unsent.readableBytes }
        let options = context?.channel.syncOptions
        let inChannel = options.flatMap { try? $0.getOption(.bufferedWritableBytes) } ?? 0
        return unsent.readableBytes + inChannel
    }

    /// Pauses or resumes the delivery of replies, and the reading.
    func setReadingPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        guard !isPaused else { return }
        deliver()
        if isReadHeld, !self.isPaused {
            isReadHeld = false
            context?.read()
        }
    }

    /// Closes; open calls fail.
    func close(_ error: any Error = VarlinkConnectionError.closed) {
        end = end ?? error
        isPaused = false
        context?.shutAndClose()
        failCalls()
    }

    private func flush() {
        isFlushScheduled = false
        // While the channel takes no more, what is unsent waits here: its size is looked at.
        guard let context, isChannelWritable, unsent.readableBytes > 0 else { return }
        context.writeAndFlush(Self.wrapOutboundOut(unsent), promise: nil)
        unsent.clear(minimumCapacity: 0)
        notifyWritable()
    }

    /// Runs the waiting actions in order, as long as there is room to write.
    private func notifyWritable() {
        while isWritable || end != nil, let action = whenWritable.popFirst() { action() }
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        do throws(ProtocolViolation) {
            while !isPaused, pipe == nil, let frame = try frames.next() { try deliver(frame) }
        } catch {
            frames.removeAll()
            close(VarlinkConnectionError(.protocolViolation, "the service sent \(error)"))
        }
        if !isPaused, end != nil { failCalls() }
    }

    private func deliver(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                try deliver(ReplyHeader(bytes, nesting: limits.nesting))
            }
        }
        try outcome.get()
    }

    private func deliver(_ reply: ReplyHeader) throws(ProtocolViolation) {
        guard let call = calls.first else {
            guard let error = ClientConnection.error(in: reply) else {
                throw .unexpectedReply("a reply that belongs to no call")
            }
            // It is about the connection, such as that there is no room for it.
            return close(error)
        }
        guard call.kind == .more || !reply.continues else {
            throw .unexpectedReply("a reply that continues, to a call without more")
        }
        if !reply.continues { calls.removeFirst() }
        if let error = ClientConnection.error(in: reply) {
            isUpgradeWanted = isUpgradeWanted && call.kind != .upgrade
            return call.handler(.failure(error))
        }
        let parameters = reply.parameters ?? ClientConnection.noParameters
        guard call.kind == .upgrade, let context else {
            return call.handler(.reply(parameters, continues: reply.continues))
        }
        let pipe = RawPipe(context.channel, startingWith: frames.takeAll())
        self.pipe = pipe
        call.handler(.upgraded(parameters, pipe))
    }

    private static func error(in reply: ReplyHeader) -> VarlinkRemoteError? {
        guard let name = reply.error else { return nil }
        // All of the frame was checked: reading the object again does not fail.
        let parameters = reply.parameters.flatMap { try? JSON.decode(JSONObject.self, from: $0) }
        return VarlinkRemoteError(name: name, parameters: parameters ?? .empty)
    }

    private func failCalls() {
        let error = end ?? VarlinkConnectionError.closed
        while let call = calls.popFirst() { call.handler(.failure(error)) }
        unsent = ByteBuffer()
        notifyWritable()
    }

    /// The text that is sent for absent parameters.
    ///
    /// A literal: its memory lives as long as the program.
    private static var noParameters: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

// MARK: - Events of the channel

extension ClientConnection {
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let pipe { return pipe.append(Self.unwrapInboundIn(data)) }
        frames.append(Self.unwrapInboundIn(data))
        deliver()
    }

    func read(context: ChannelHandlerContext) {
        guard pipe?.wantsBytes ?? !isPaused else {
            isReadHeld = true
            return
        }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isChannelWritable = context.channel.isWritable
        if isChannelWritable, !isFlushScheduled {
            isFlushScheduled = true
            // Not within the write that made room.
            eventLoop.execute { [self] in
                flush()
                notifyWritable()
            }
        }
        context.fireChannelWritabilityChanged()
    }

    /// Ends the connection when the service shuts down its sending side; in another protocol, the pipe handles that.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            if let pipe {
                pipe.end()
            } else {
                context.shutAndClose()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Callers still get replies that have arrived; then the calls without one fail.
    func channelInactive(context: ChannelHandlerContext) {
        end = end ?? VarlinkConnectionError.closed
        pipe?.end()
        deliver()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end = end ?? VarlinkConnectionError(.closed, "the connection broke: \(error)")
        context.shutAndClose()
    }

    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        guard case .all = mode else { return context.close(mode: mode, promise: promise) }
        context.shutAndClose(promise: promise)
    }
}
