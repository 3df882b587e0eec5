internal import Glibc
internal import JSONCodec
internal import NIOCore

/// Whether a connection can continue in another process.
enum HandoverReadiness {
    /// It can, now.
    case ready(KeptState)
    /// Not yet; the reason, for the log: follows a number of connections.
    case notYet(String)
    /// It can't, however long the handover waits; the reason, for the log.
    case never(String)
    /// It closes by itself.
    case leaving
}

extension Connection {
    var handoverReadiness: HandoverReadiness {
        if isLeaving { return .leaving }
        if calls.alone?.isBoundHere == true {
            return .never("in a call that no other process goes on with")
        }
        guard input.frames.count <= KeptState.mostBytes else {
            return .never("in the midst of sending more than \(KeptState.mostBytes) bytes")
        }
        guard calls.areAnswered else { return .notYet("in a call that was not answered in time") }
        guard calls.replies.waitingBytes == 0, bytesInChannel == 0 else {
            return .notYet("of a client that does not read")
        }
        var kept = KeptState(peer: peer, calls: usage.calls)
        if let alone = calls.alone {
            guard let state = alone.describe?() else {
                return .notYet("in a call whose first answer was not ready in time")
            }
            kept.stream = .init(method: server.table.name(at: alone.method), state: state)
        }
        kept.bytes = Array(input.frames.waiting)
        return .ready(kept)
    }

    /// Whether no call is under way, or only one that runs alone and can continue in another process now.
    ///
    /// False for a call that can't be resumed, which has to end first, and for one without a first reply yet.
    var isPaused: Bool {
        calls.areAnswered && (calls.alone == nil || calls.alone?.describe?() != nil)
    }

    /// Whether it closes by itself, or can't go to the next process: then the handover does not wait for it.
    var isLeaving: Bool {
        switch state.phase {
        case .open: context == nil
        // Without a call it is just being closed.
        case .halfClosed: calls.replies.count == 0 && !hasToGoOn
        case .stopping, .upgrading, .upgraded, .ending, .condemned, .closing, .closed: true
        }
    }

    /// Whether there are calls that wait for a server that may start them: this one, or another
    /// process's.
    var hasToGoOn: Bool {
        server.handover != .none && (input.frames.count > 0 || calls.hasAdopted)
    }

    /// The number that identifies its socket, from the kernel; nil: it can't be asked for.
    var socketIdentity: UInt64? {
        guard let options = context?.channel as? any SocketOptionProvider else { return nil }
        let cookie: EventLoopFuture<UInt64> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_COOKIE))
        var identity: UInt64?
        // It completes at once when called on the channel's loop.
        cookie.assumeIsolated().whenSuccess { identity = $0 }
        return identity
    }

    /// Restores the state of a connection of another process, before the channel is read from.
    func adopt(_ kept: KeptState) {
        calls.adopt(kept.stream)
        usage.restore(calls: kept.calls)
        if !kept.bytes.isEmpty { input.frames.append(ByteBuffer(bytes: kept.bytes)) }
    }

    /// Continues the call that was in progress in the other process.
    func resume() {
        guard let stream = calls.takeAdopted() else { return }
        let entry = server.table.entry(named: stream.method)
        let method = entry?.place ?? server.table.count
        let id = calls.openAdopted(method)
        let slot = CallSlot(
            connection: self, id: id, kind: .more, method: method, bytes: 0, started: 0)
        guard let entry, let resume = entry.resume else {
            return slot.fail(server.router.whyNotFound(stream.method))
        }
        if let denial = entry.authorize?(peer) {
            server.logDenied(entry.name, denial.reason, peer)
            return slot.fail(denial.error)
        }
        resume(stream.state, slot)
    }
}
