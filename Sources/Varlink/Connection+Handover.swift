internal import Glibc
internal import JSONCodec
internal import Logging
internal import NIOCore

extension Connection {
    /// The state of a connection that a handover needs.
    struct Keeping {
        /// The identity of the socket; nil until it was queried.
        fileprivate(set) var identity: UInt64?

        /// The state of another process that this connection continues from; nil: none.
        fileprivate(set) var resumption: KeptState?
    }

    /// Sets the closure that describes how a call continues in another process.
    func onHandOver(_ slot: CallSlot, _ describe: @escaping @Sendable () -> JSONObject?) {
        if slot.kind == .more { calls.describe(slot.id, describe) }
    }

    /// Whether all calls have been answered but the one that runs alone.
    var isAnswered: Bool {
        replies.count + silentCalls.count == (calls.alone == nil ? 0 : 1)
    }

    /// Whether no call runs alone, or the one that does can continue in another process now.
    ///
    /// False for a call that can't be resumed, which has to end first, and for one without a first reply yet.
    var isResumable: Bool { calls.alone == nil || calls.alone?.describe?() != nil }

    /// Whether it closes by itself, or can't go to the next process: then the handover does not wait for it.
    var isLeaving: Bool {
        switch state {
        case .open: context == nil
        // Without a call it is just being closed.
        case .halfClosed: replies.count == 0 && !hasToGoOn
        case .stopping, .upgrading, .upgraded, .ending, .condemned, .closing, .closed: true
        }
    }

    /// Whether there are calls that wait for a server that may start them: this one, or another
    /// process's.
    var hasToGoOn: Bool {
        server.handover != .none && (frames.count > 0 || keeping.resumption != nil)
    }

    /// Whether it can't go to the next process, however long the handover waits.
    var isHopeless: Bool {
        isLeaving || frames.count > KeptState.mostBytes
            || isBoundHere
    }

    /// Whether a call runs alone that can't continue in another process.
    private var isBoundHere: Bool {
        if let alone = calls.alone { alone.describe == nil } else { false }
    }

    /// Whether all replies are with the kernel.
    var isSent: Bool {
        replies.ready.readableBytes == 0 && replies.heldBytes == 0 && bytesInChannel == 0
    }

    /// Returns the state to hand over to another process; nil if the connection can't be handed over, or not yet.
    func kept() -> KeptState? {
        guard !isLeaving, isAnswered, isSent, frames.count <= KeptState.mostBytes else {
            return nil
        }
        var kept = KeptState(peer: peer, calls: usage.calls)
        if let alone = calls.alone {
            guard let state = alone.describe?() else { return nil }
            kept.stream = .init(method: alone.method, state: state)
        }
        kept.bytes = Array(frames.waiting)
        return kept
    }

    /// Why ``kept()`` gives nil for a connection that is not leaving, for the log: follows a number.
    var whyNotKept: String {
        if isBoundHere {
            return "in a call that no other process goes on with"
        }
        if !isAnswered { return "in a call that was not answered in time" }
        if frames.count > KeptState.mostBytes {
            return "in the midst of sending more than \(KeptState.mostBytes) bytes"
        }
        if !isSent { return "of a client that does not read" }
        if !isResumable { return "in a call whose first answer was not ready in time" }
        return "beyond what is written down, or for which there was no descriptor"
    }

    /// Reads the socket's identity from the kernel.
    ///
    /// It completes at once when called on the channel's loop.
    func learnIdentity() {
        guard keeping.identity == nil,
            let options = context?.channel as? any SocketOptionProvider
        else { return }
        let cookie: EventLoopFuture<UInt64> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_COOKIE))
        cookie.whenSuccess { self.keeping.identity = $0 }
    }

    /// Restores the state of a connection of another process, before the channel is read from.
    func adopt(_ kept: KeptState) {
        keeping.resumption = kept
        usage.restore(calls: kept.calls)
        if !kept.bytes.isEmpty { frames.append(ByteBuffer(bytes: kept.bytes)) }
    }

    /// Continues the call that was in progress in the other process.
    func resume() {
        let kept = keeping.resumption
        keeping.resumption = nil
        guard let stream = kept?.stream else { return }
        var name = stream.method
        let entry = name.withUTF8 { server.table.entry(named: UnsafeRawBufferPointer($0)) }
        let method = entry?.place ?? server.table.count
        let id = replies.open(method)
        // Already measured by the previous process.
        calls.run(alone: .init(id: id, method: stream.method, isAnswered: true))
        let slot = CallSlot(
            connection: self, id: id, kind: .more, method: method, bytes: 0, started: 0)
        guard let entry, let resume = entry.resume else {
            return fail(slot, server.router.whyNotFound(stream.method))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return fail(slot, denial.error)
        }
        resume(stream.state, slot)
    }
}
