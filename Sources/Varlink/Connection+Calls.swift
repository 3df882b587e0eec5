internal import JSONCodec
internal import Logging
internal import NIOCore

// MARK: - Starting calls

extension Connection {
    /// Starts the call that a frame holds.
    func start(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let started = server.meters?.turnStart(at: server.budget.began) ?? 0
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                let header = try CallHeader(bytes, nesting: server.limits.nesting)
                start(header, of: bytes.count, at: started)
            }
        }
        try outcome.get()
    }

    private func start(_ header: CallHeader, of bytes: Int, at started: Int64) {
        server.statistics.calls += 1
        usage.startCall()
        let entry = entry(for: header)
        let place = entry?.place ?? server.table.count
        let slot = open(header, entry, place, bytes: bytes, at: started)
        server.meters?.start(place)
        guard let entry else {
            let name = header.escapedMethod ?? String(decoding: header.method, as: UTF8.self)
            return fail(slot, server.router.whyNotFound(name))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return fail(slot, denial.error)
        }
        switch entry.upgrade {
        case .never where header.wantsUpgrade:
            return fail(slot, VarlinkService.MethodNotImplemented(method: entry.name))
        case .required where !header.wantsUpgrade:
            return fail(slot, VarlinkService.ExpectedUpgrade())
        default: break
        }
        if let excess = excess(of: bytes) { return refuse(slot, excess) }
        do throws(JSONError) {
            let parameters = header.parameters ?? Connection.noParameters
            try entry.invoke(parameters, server.limits.nesting, slot)
        } catch {
            server.logger.debug(
                "a call had wrong parameters",
                metadata: [
                    "method": "\(entry.name)", "reason": "\(error)", "peer-uid": "\(peer.uid)",
                    "peer-pid": "\(peer.pid)",
                ])
            fail(slot, VarlinkService.InvalidParameter(parameter: error.path))
        }
    }

    /// Fails a call without running it; closes the connection if the call is oneway, which has no reply.
    private func refuse(_ slot: CallSlot, _ excess: VarlinkLimitExceeded) {
        fail(slot, excess)
        guard slot.kind == .oneway else { return }
        server.statistics.overflows += 1
        condemn(excess.message, exceeding: (excess.limit, excess.value), afterCalls: true)
    }

    private func entry(for header: CallHeader) -> MethodEntry? {
        guard var name = header.escapedMethod else {
            return server.table.entry(named: header.method)
        }
        return name.withUTF8 { server.table.entry(named: UnsafeRawBufferPointer($0)) }
    }

    private func open(
        _ header: CallHeader, _ entry: MethodEntry?, _ method: UInt16, bytes: Int,
        at started: Int64
    ) -> CallSlot {
        func slot(_ id: UInt64, _ kind: CallSlot.Kind) -> CallSlot {
            CallSlot(
                connection: self, id: id, kind: kind, method: method,
                bytes: UInt32(clamping: bytes), started: started)
        }
        if header.isOneway { return slot(silentCalls.open(bytes: bytes), .oneway) }
        let id = replies.open(method, bytes: bytes)
        guard header.wantsMore || header.wantsUpgrade else { return slot(id, .single) }
        calls.run(
            alone: .init(
                id: id, method: entry?.name ?? "", wantsUpgrade: header.wantsUpgrade))
        return slot(id, header.wantsMore ? .more : .upgrade)
    }

    /// The text from which absent parameters are read.
    ///
    /// A literal: its memory lives as long as the program.
    private static var noParameters: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }
}

// MARK: - What the slots of calls ask for

extension Connection {
    /// Whether a call can still be answered.
    func isOpen(_ slot: CallSlot) -> Bool {
        guard takesAnswers else { return false }
        return slot.kind == .oneway ? silentCalls.isOpen(slot.id) : replies.isOpen(slot.id)
    }

    /// Answers with one frame that `encode` writes, without its NUL.
    func answer(
        _ slot: CallSlot, isLast: Bool, error: String? = nil, _ encode: (inout JSONWriter) -> Void
    ) {
        guard isOpen(slot) else { return }
        if slot.kind != .oneway {
            // The memory is moved out while it is written to: a second owner would copy it.
            var writer = JSONWriter(appendingTo: server.takeScratch())
            encode(&writer)
            writer.bytes.append(0)
            writer.bytes.withUnsafeBytes { replies.append($0, to: slot.id) }
            server.giveBack(scratch: &writer.bytes)
        }
        count(slot, error)
        if isLast { end(slot) }
        settleAnswer()
    }

    /// Answers with one whole frame, which is the last.
    func answer(_ slot: CallSlot, withLast frame: [UInt8]) {
        guard isOpen(slot) else { return }
        if slot.kind != .oneway { frame.withUnsafeBytes { replies.append($0, to: slot.id) } }
        count(slot, nil)
        end(slot)
        settleAnswer()
    }

    /// Sends encoded frames as replies; the call continues.
    func answer(_ slot: CallSlot, with frames: ByteBuffer) {
        guard isOpen(slot) else { return }
        replies.append(sharing: frames, to: slot.id)
        count(slot, nil)
        settleAnswer()
    }

    /// Sends one reply, of which `encode` writes the beginning and `tail` is the rest with its NUL; the call continues.
    func answer(
        _ slot: CallSlot, endingWith tail: [UInt8], _ encode: (inout JSONWriter) -> Void
    ) {
        guard isOpen(slot) else { return }
        var writer = JSONWriter(appendingTo: server.takeScratch())
        encode(&writer)
        if tail.count > Self.bigTail {
            // Memory of its own, which goes once it is sent: the connection's would stay.
            var frame = ByteBufferAllocator().buffer(capacity: writer.bytes.count + tail.count)
            frame.writeBytes(writer.bytes)
            frame.writeBytes(tail)
            replies.append(sharing: frame, to: slot.id)
        } else {
            writer.bytes.withUnsafeBytes { replies.append($0, to: slot.id) }
            tail.withUnsafeBytes { replies.append($0, to: slot.id) }
        }
        server.giveBack(scratch: &writer.bytes)
        count(slot, nil)
        settleAnswer()
    }

    /// The number of bytes from which on the end of a reply gets memory of its own.
    private static var bigTail: Int { 4 << 10 }

    /// Ends a call with an error.
    func fail<Failure: VarlinkErrorReply>(_ slot: CallSlot, _ error: Failure) {
        fail(slot, Failure.name, error)
    }

    /// Ends a call with an error that is known by name.
    func fail(_ slot: CallSlot, _ name: String, _ parameters: some JSONWritable) {
        guard isOpen(slot) else { return }
        server.statistics.errors += 1
        answer(slot, isLast: true, error: name) { $0.writeError(name, parameters) }
    }

    /// Answers with one reply, after which the connection speaks another protocol.
    func upgrade(
        _ slot: CallSlot, _ encode: (inout JSONWriter) -> Void,
        then: @escaping @Sendable (VarlinkRawConnection) -> Void
    ) {
        guard slot.kind == .upgrade, isOpen(slot) else { return }
        answer(slot, isLast: true, encode)
        // If not, it is stopping, or has just been condemned.
        switch state {
        case .open, .halfClosed: state = .upgrading(then)
        default: break
        }
    }

    func onClose(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        if isClosed { return eventLoop.execute(action) }
        // Of a connection that is about to close too: its end is yet to come.
        guard slot.kind != .oneway, replies.isOpen(slot.id) else { return }
        calls.onClose(slot.id, action)
    }

    func onWritable(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        guard isOpen(slot) else { return }
        calls.onWritable(WritableAction(slot: slot, run: action))
        schedule()
    }

    func onReview(_ slot: CallSlot, _ action: @escaping @Sendable () -> Void) {
        guard slot.kind != .oneway, isOpen(slot) else { return }
        calls.onReview(slot.id, action)
    }

    /// Runs each open call's review handler, after roles changed.
    func review() {
        for action in calls.reviews { action() }
    }

    private func end(_ slot: CallSlot) {
        if slot.kind == .oneway {
            silentCalls.end(slot.id)
            return
        }
        replies.end(slot.id)
        calls.end(slot.id)
    }

    /// Counts a call with its first reply, because the caller does not wait for later ones.
    private func count(_ slot: CallSlot, _ error: String?) {
        guard let meters = server.meters else { return }
        if slot.kind == .more, !calls.answerAlone() { return }
        meters.record(slot, error: error)
    }

    /// Counts the calls that will never be answered, since the connection has ended.
    func countDropped() {
        guard let meters = server.meters else { return }
        for call in replies.openCalls
        where call.id != calls.alone?.id || calls.alone?.isAnswered == false {
            meters.drop(call.method)
        }
    }

    private func settleAnswer() {
        if bytesQueued > server.limits.queuedBytes {
            server.statistics.overflows += 1
            condemn(
                "more than \(server.limits.queuedBytes) bytes wait for it, and it does not read "
                    + "(limits.queuedBytes)")
        }
        schedule()
    }
}
