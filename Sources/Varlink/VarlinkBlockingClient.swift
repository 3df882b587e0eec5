internal import Glibc
internal import JSONCodec

/// A blocking client: one call at a time, on a connected socket, without an event loop.
///
/// A call that is answered leaves the connection ready for the next one. One that fails with a
/// ``VarlinkConnectionError`` leaves it closed, because replies can no longer be matched to calls: every later call
/// fails with the same error.
///
/// Not to be used on a ``VarlinkServer``'s loop, nor from more than one thread at a time.
public final class VarlinkBlockingClient {
    private var descriptor: Int32
    /// Becomes readable when the service's process has ended; negative: nothing says so.
    private var ended: Int32
    private let frameBytes: Int
    private let nesting: Int
    private let allowsUnknownMembers: Bool
    /// The bytes that have arrived and were not read.
    private var arrived: [UInt8] = []
    private var end: VarlinkConnectionError?

    /// Takes over a connected socket, and closes it at the end.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - ended: A descriptor that becomes readable when the service's process has ended, which counts as the end of the
    ///     connection: another process may hold the service's end of the socket open. The client takes it over, too.
    ///     Default: negative, none.
    ///   - frameBytes: The maximum size of a reply in bytes. Default: 1 MiB.
    ///   - nesting: The maximum depth of a reply's parameters. Default: 64.
    ///   - allowsUnknownMembers: Whether members of a reply's parameters that the method does not declare are skipped,
    ///     as a newer service may have them. Default: true; if false, such a reply is an error.
    public init(
        descriptor: Int32, ended: Int32 = -1, frameBytes: Int = 1 << 20, nesting: Int = 64,
        allowsUnknownMembers: Bool = true
    ) {
        self.ended = ended
        self.allowsUnknownMembers = allowsUnknownMembers
        self.descriptor = descriptor
        self.frameBytes = frameBytes
        self.nesting = nesting
    }

    deinit { close() }

    /// Closes the socket; calls fail from then on.
    public func close() { fail(.closed) }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: The call's parameters.
    ///   - time: The time that the call may take, including sending.
    /// - Returns: The reply.
    /// - Throws: ``VarlinkRemoteError`` for an error that the service replied with; `JSONError` for a reply whose
    ///   parameters are not the method's; ``VarlinkConnectionError`` when the connection is lost, the service does not
    ///   keep to the protocol, or the time is over (`timedOut`).
    public func call<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, within time: Duration
    ) throws -> Method.Reply {
        if let end { throw end }
        let deadline = ContinuousClock.now + time
        // Nothing else is read between two calls.
        try read()
        guard arrived.isEmpty else {
            throw fail(violation(.unexpectedReply("a reply that belongs to no call")))
        }
        try send(CallFrame.encode(Method.name, parameters, flag: nil), by: deadline, time)
        let frame = try receive(by: deadline, time)
        return try frame.withUnsafeBytes { bytes in
            let header: ReplyHeader
            do throws(ProtocolViolation) {
                header = try ReplyHeader(bytes, nesting: nesting)
                guard !header.continues else {
                    throw .unexpectedReply("a reply that continues, to a call without more")
                }
            } catch {
                throw fail(violation(error))
            }
            if let name = header.error {
                // All of the frame was checked: reading the object again does not fail.
                let parameters = header.parameters.flatMap {
                    try? JSON.decode(JSONObject.self, from: $0)
                }
                throw VarlinkRemoteError(name: name, parameters: parameters ?? .empty)
            }
            return try JSON.decode(
                Method.Reply.self, from: header.parameters.map(Array.init) ?? Array("{}".utf8),
                allowsUnknownMembers: allowsUnknownMembers, depthLimit: nesting)
        }
    }

    @discardableResult
    private func fail(_ error: VarlinkConnectionError) -> VarlinkConnectionError {
        for open in [descriptor, ended] where open >= 0 { Glibc.close(open) }
        (descriptor, ended) = (-1, -1)
        arrived = []
        let first = end ?? error
        end = first
        return first
    }

    private func violation(_ violation: ProtocolViolation) -> VarlinkConnectionError {
        VarlinkConnectionError(.protocolViolation, "the service sent \(violation)")
    }

    private func failure(_ what: String) -> VarlinkConnectionError {
        let code = errno
        guard code != EPIPE, code != ECONNRESET else { return .closed }
        return VarlinkConnectionError(.other, "can't \(what): \(String(cString: strerror(code)))")
    }

    // MARK: Bytes

    private func send(
        _ bytes: [UInt8], by deadline: ContinuousClock.Instant, _ time: Duration
    ) throws(VarlinkConnectionError) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                Glibc.send(
                    descriptor, all.baseAddress.map { $0 + sent }, all.count - sent,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, by: deadline, time)
            } else if errno != EINTR {
                throw fail(failure("send a call"))
            }
        }
    }

    /// The next frame, without its NUL.
    private func receive(
        by deadline: ContinuousClock.Instant, _ time: Duration
    ) throws(VarlinkConnectionError) -> [UInt8] {
        var searched = 0
        while true {
            if let end = arrived[searched...].firstIndex(of: 0) {
                guard end <= frameBytes else { break }
                defer { arrived.removeFirst(end + 1) }
                return Array(arrived[..<end])
            }
            searched = arrived.count
            guard searched <= frameBytes else { break }
            try wait(for: POLLIN, by: deadline, time)
            try read()
        }
        throw fail(
            VarlinkConnectionError(
                .protocolViolation,
                "the service sent a reply of more than \(frameBytes) bytes, the most that one may have"
            ))
    }

    private func read() throws(VarlinkConnectionError) {
        let size = 64 << 10
        var count = 0
        let part = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            count = recv(descriptor, buffer.baseAddress, size, Int32(MSG_DONTWAIT))
            filled = max(0, count)
        }
        if count > 0 {
            if arrived.isEmpty { arrived = part } else { arrived += part }
        } else if count == 0 {
            throw fail(.closed)
        } else if errno != EAGAIN, errno != EINTR {
            throw fail(failure("read a reply"))
        }
    }

    private func wait(
        for events: Int32, by deadline: ContinuousClock.Instant, _ time: Duration
    ) throws(VarlinkConnectionError) {
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else {
                throw fail(VarlinkConnectionError(.timedOut, "there was no reply within \(time)"))
            }
            let (seconds, attoseconds) = rest.components
            let milliseconds = min(seconds, 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000
            // The kernel passes over a negative descriptor.
            var states = [
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
                pollfd(fd: ended, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&states, 2, Int32(milliseconds + 1))
            if ready > 0 {
                // A service that has ended may have replied before, just after the kernel looked at the socket.
                if states[0].revents != 0 || poll(&states, 1, 0) > 0 { return }
                throw fail(.closed)
            }
            guard ready == 0 || errno == EINTR else { throw fail(failure("wait for a reply")) }
        }
    }
}
