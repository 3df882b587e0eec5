public import JSONCodec
internal import NIOCore

// MARK: - For tasks

extension VarlinkClient {
    /// Calls a method and waits for its reply.
    ///
    /// If the task is cancelled it stops waiting; the call is carried out all the same.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    /// - Returns: The reply; members that it does not declare are skipped.
    /// - Throws: ``VarlinkRemoteError`` as the service replied; ``VarlinkConnectionError``.
    public func call<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) async throws -> Method.Reply {
        try await wait { self.send(method, parameters, then: $0) }
    }

    /// Calls a method for a series of replies.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    /// - Returns: The replies, pulled: reading slowly slows the service down. Leaving the stream before its end
    ///   closes the client, since the protocol has no other way. The stream throws as ``call(_:_:)`` does.
    public func stream<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) -> AsyncThrowingStream<Method.Reply, any Error> {
        stream(CallFrame.encode(Method.name, parameters, flag: .more)) { bytes in
            try VarlinkClient.decode(Method.self, bytes)
        }
    }

    /// Calls a method without reply, and does not wait.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    public func oneway<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) {
        send(CallFrame.encode(Method.name, parameters, flag: .oneway), nil)
    }

    /// Calls a method for its reply, and then for another protocol on the same connection.
    ///
    /// If the call fails, the connection stays as it is; otherwise the client can make no further calls.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    /// - Returns: The reply, and the connection from the first byte after it.
    /// - Throws: ``VarlinkRemoteError`` for an error that the service replied with, such as `MethodNotImplemented` if
    ///   the method has no other protocol; ``VarlinkConnectionError``.
    public func upgrade<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) async throws -> (reply: Method.Reply, connection: VarlinkRawConnection) {
        try await upgrade(CallFrame.encode(Method.name, parameters, flag: .upgrade)) {
            try VarlinkClient.decode(method, $0)
        }
    }

    /// Calls a method that is only known by name for its reply, and another protocol after that.
    ///
    /// - Parameters:
    ///   - method: The method's full name.
    ///   - parameters: The parameters; none by default.
    /// - Returns: The reply as it came, and the connection; see ``upgrade(_:_:)``.
    /// - Throws: ``VarlinkRemoteError`` as the service replied; ``VarlinkConnectionError``.
    public func upgrade(
        raw method: String, parameters: JSONObject = .empty
    ) async throws -> (reply: JSONObject, connection: VarlinkRawConnection) {
        try await upgrade(CallFrame.encode(method, parameters, flag: .upgrade)) {
            try JSON.decode(JSONObject.self, from: $0)
        }
    }

    /// Waits until the service keeps up: until less than ``VarlinkLimits/writableBytes`` wait to be sent to it.
    ///
    /// Use it between many calls that do not wait, such as ``oneway(_:_:)``: beyond ``VarlinkLimits/queuedBytes`` the
    /// client closes.
    public func whenWritable() async throws {
        try await wait { then in
            then(self.streaming.ended.map { .failure($0) } ?? .success(()))
        }
    }

    /// Calls a method that is only known by name, and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: The method's full name.
    ///   - parameters: The parameters; none by default.
    /// - Returns: The reply as it came.
    /// - Throws: ``VarlinkRemoteError`` as the service replied; ``VarlinkConnectionError``.
    public func call(
        raw method: String, parameters: JSONObject = .empty
    ) async throws -> JSONObject {
        try await wait { then in
            self.send(
                CallFrame.encode(method, parameters, flag: nil),
                .init(kind: .single) {
                    then($0.result { try JSON.decode(JSONObject.self, from: $0) })
                })
        }
    }

    /// Calls a method that is only known by name, for a series of replies.
    ///
    /// - Parameters:
    ///   - method: The method's full name.
    ///   - parameters: The parameters; none by default.
    /// - Returns: The replies as they came; see ``stream(_:_:)``.
    public func stream(
        raw method: String, parameters: JSONObject = .empty
    ) -> AsyncThrowingStream<JSONObject, any Error> {
        stream(CallFrame.encode(method, parameters, flag: .more)) { bytes in
            try JSON.decode(JSONObject.self, from: bytes)
        }
    }

    /// Calls a method that is only known by name without reply, and does not wait.
    ///
    /// - Parameters:
    ///   - method: The method's full name.
    ///   - parameters: The parameters; none by default.
    public func oneway(raw method: String, parameters: JSONObject = .empty) {
        send(CallFrame.encode(method, parameters, flag: .oneway), nil)
    }

    private func upgrade<Reply: Sendable>(
        _ frame: [UInt8], _ decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Reply
    ) async throws -> (reply: Reply, connection: VarlinkRawConnection) {
        try await wait { then in
            self.send(
                frame,
                .init(kind: .upgrade) { event in
                    switch event {
                    case .upgraded(let bytes, let pipe):
                        // Made even if decoding fails: it closes the connection once it is released.
                        let connection = VarlinkRawConnection(pipe)
                        then(Result { (try decode(bytes), connection) })
                    case .failure(let error): then(.failure(error))
                    case .reply: then(.failure(VarlinkConnectionError.closed))
                    }
                })
        }
    }

    private func wait<Reply: Sendable>(
        _ send: @escaping @Sendable (@escaping @Sendable (Result<Reply, any Error>) -> Void) -> Void
    ) async throws -> Reply {
        let pending = PendingReply<Reply>()
        let loop = eventLoop
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                loop.execute { [streaming] in
                    guard pending.begin(continuation) else { return }
                    streaming.onWritable { send { pending.finish($0) } }
                }
            }
        } onCancel: {
            loop.execute { pending.finish(.failure(CancellationError())) }
        }
    }

    private func stream<Reply: Sendable>(
        _ frame: [UInt8], _ decode: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Reply
    ) -> AsyncThrowingStream<Reply, any Error> {
        let stream = ReplyStream<Reply>(streaming)
        let owner = StreamOwner(stream, of: self)
        send(
            frame,
            .init(kind: .more) { event in
                if case .reply(_, let continues) = event {
                    stream.receive(event.result(decode), continues: continues)
                } else {
                    stream.receive(event.result(decode), continues: false)
                }
            })
        return AsyncThrowingStream { try await owner.stream.next() }
    }
}

// MARK: - For callers on the loop

extension VarlinkClient {
    /// Calls a method.
    ///
    /// From any thread; in one turn of the loop, all calls go out together.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    ///   - then: Called once, on the loop, with the reply or why there is none.
    public func send<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        then: @escaping @Sendable (Result<Method.Reply, any Error>) -> Void
    ) {
        send(
            CallFrame.encode(Method.name, parameters, flag: nil),
            .init(kind: .single) {
                then($0.result { try VarlinkClient.decode(Method.self, $0) })
            })
    }

    /// Calls a method for a series of replies.
    ///
    /// From any thread.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The parameters.
    ///   - each: Called on the loop with each reply in order, or why there are no more, and whether others
    ///     follow.
    public func open<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        each: @escaping @Sendable (Result<Method.Reply, any Error>, _ continues: Bool) -> Void
    ) {
        send(
            CallFrame.encode(Method.name, parameters, flag: .more),
            .init(kind: .more) { event in
                let reply = event.result { try VarlinkClient.decode(Method.self, $0) }
                if case .reply(_, let continues) = event {
                    each(reply, continues)
                } else {
                    each(reply, false)
                }
            })
    }

    /// Pauses or resumes the reading of replies.
    ///
    /// Call it on the loop. It is for callers of ``open(_:_:each:)`` that can't take more for now: only replies that
    /// have arrived already wait in memory. The end of the connection is reported once reading is resumed.
    ///
    /// - Parameter isPaused: Whether reading is paused.
    public func setReadingPaused(_ isPaused: Bool) {
        eventLoop.preconditionInEventLoop()
        streaming.setReadingPaused(isPaused)
    }

    private static func decode<Method: VarlinkMethod>(
        _ method: Method.Type, _ bytes: UnsafeRawBufferPointer
    ) throws -> Method.Reply {
        do {
            return try JSON.decode(Method.Reply.self, from: bytes, allowsUnknownMembers: true)
        } catch {
            throw VarlinkConnectionError(
                .protocolViolation,
                "the service's reply to \(Method.name) is not as declared: \(error)")
        }
    }
}

extension ClientConnection.Event {
    /// The event as a result, its bytes decoded.
    fileprivate func result<Reply>(
        _ decode: (UnsafeRawBufferPointer) throws -> Reply
    ) -> Result<Reply, any Error> {
        switch self {
        case .reply(let bytes, _), .upgraded(let bytes, _): Result { try decode(bytes) }
        case .failure(let error): .failure(error)
        }
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

    /// Begins to wait; returns whether the reply is still to come: if not, the task continues with a
    /// `CancellationError`.
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
