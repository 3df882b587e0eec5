internal import JSONCodec
internal import Logging
internal import NIOCore

// How calls are started. Their replies: `CallSlot`.
extension Connection {
    /// Starts the call that a frame holds.
    func start(_ frame: ByteBuffer) throws(ProtocolViolation) {
        let started = server.meters?.turnStart(at: server.budget.began) ?? 0
        let outcome = frame.withUnsafeReadableBytes { bytes in
            Result { () throws(ProtocolViolation) in
                start(try header(of: bytes), of: bytes.count, at: started)
            }
        }
        try outcome.get()
    }

    /// Parses the header of a call; checks the rest of a long one only if the call may be made, since that takes long.
    private func header(of frame: UnsafeRawBufferPointer) throws(ProtocolViolation) -> CallHeader {
        if frame.count > server.unhurriedBytes {
            let header = try CallHeader(frame, nesting: server.limits.nesting, skims: true)
            guard let entry = server.table.entry(for: header), entry.authorize?(peer) == nil,
                frame.count <= server.limits.bytes(ofCallsOf: entry.name)
            else { return header }
        }
        return try CallHeader(frame, nesting: server.limits.nesting)
    }

    private func start(_ header: CallHeader, of bytes: Int, at started: Int64) {
        server.statistics.calls += 1
        usage.startCall()
        let entry = server.table.entry(for: header)
        let place = entry?.place ?? server.table.count
        let (id, kind) = calls.open(header, place, bytes: bytes)
        let slot = CallSlot(
            connection: self, id: id, kind: kind, method: place, bytes: UInt32(clamping: bytes),
            started: started)
        server.meters?.start(place)
        guard let entry else {
            if let excess = excessLength(bytes, of: nil) { return refuse(slot, excess) }
            let name = header.escapedMethod ?? String(decoding: header.method, as: UTF8.self)
            return slot.fail(server.router.whyNotFound(name))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return slot.fail(denial.error)
        }
        switch entry.upgrade {
        case .never where header.wantsUpgrade:
            return slot.fail(VarlinkService.MethodNotImplemented(method: entry.name))
        case .required where !header.wantsUpgrade:
            return slot.fail(VarlinkService.ExpectedUpgrade())
        default: break
        }
        if let excess = excessLength(bytes, of: entry.name) ?? excess(of: bytes) {
            return refuse(slot, excess)
        }
        do throws(JSONError) {
            let parameters = header.parameters ?? CallHeader.noParameters
            try entry.invoke(parameters, server.limits.nesting, slot)
        } catch {
            server.logger.debug(
                "a call had wrong parameters",
                metadata: [
                    "method": "\(entry.name)", "reason": "\(error)", "peer-uid": "\(peer.uid)",
                    "peer-pid": "\(peer.pid)",
                ])
            slot.fail(VarlinkService.InvalidParameter(parameter: error.path))
        }
    }

    /// Fails a call without running it; closes the connection if the call is oneway, which has no reply.
    private func refuse(_ slot: CallSlot, _ excess: VarlinkLimitExceeded) {
        slot.fail(excess)
        guard slot.kind == .oneway else { return }
        server.statistics.overflows += 1
        condemn(excess.message, exceeding: (excess.limit, excess.value), afterCalls: true)
    }

    /// Runs each open call's review handler, after roles changed.
    func review() {
        for action in calls.reviews { action() }
    }

    /// A reply was made: it is sent in a turn to come, or the connection is closed because too many wait.
    func settleReply() {
        if bytesQueued > server.limits.queuedBytes {
            server.statistics.overflows += 1
            condemn(
                "more than \(server.limits.queuedBytes) bytes wait for it, and it does not read "
                    + "(limits.queuedBytes)")
        }
        schedule()
    }
}
