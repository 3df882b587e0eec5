internal import Glibc
internal import JSONCodec
internal import LogMessages
internal import Logging
internal import NIOCore

extension ServerState {
    /// The progress of a handover.
    enum Handover {
        /// The server serves, or stops without a handover.
        case none
        /// No call is started and nothing is read, while calls under way are answered.
        case pausing
        /// Streams make no more replies, while those that they made are sent.
        case frozen
    }

    /// Stops starting calls; completes when each call has been replied to or can continue in another process, or at the
    /// deadline.
    func pause(within deadline: TimeAmount) -> EventLoopFuture<Void> {
        handover = .pausing
        refuseConnections()
        let promise = eventLoop.makePromise(of: Void.self)
        poll(all, until: .now() + deadline, { $0.isLeaving || $0.isPaused }, promise)
        return promise.futureResult
    }

    /// Returns all connections that can continue in another process, the last used first, and closes all of them
    /// here; `note` is called when none makes progress any more, before any is closed.
    func release(
        within patience: TimeAmount, noting note: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<[VarlinkKeptConnection]> {
        let promise = eventLoop.makePromise(of: Void.self)
        // Turns that were asked for come first: what they say is still sent.
        eventLoop.execute { [self] in
            handover = .frozen
            for connection in all { connection.schedule() }
            poll(
                all, until: .now() + patience,
                { if case .notYet = $0.handoverReadiness { false } else { true } }, promise)
        }
        return promise.futureResult.map { [self] in
            note()
            return takeOut()
        }
    }

    /// Waits for connections, each of which stays done once it is.
    private func poll(
        _ connections: [Connection], until deadline: NIODeadline,
        _ isDone: @escaping @Sendable (Connection) -> Bool, _ promise: EventLoopPromise<Void>
    ) {
        let rest = connections.filter { !isDone($0) }
        guard NIODeadline.now() < deadline, !rest.isEmpty else { return promise.succeed() }
        eventLoop.scheduleTask(in: .milliseconds(2)) { [self] in
            poll(rest, until: deadline, isDone, promise)
        }
    }

    /// Takes all connections out in one step, so that each one's state is still correct when its socket is passed on.
    private func takeOut() -> [VarlinkKeptConnection] {
        let connections = all.sorted { $0.usage.lastUse > $1.usage.lastUse }
        var states: [UInt64: (connection: Connection, state: KeptState)] = [:]
        var room = KeptState.mostBytesInAll
        for connection in connections {
            guard case .ready(let state) = connection.handoverReadiness,
                state.bytes.count <= room, let identity = connection.socketIdentity
            else { continue }
            room -= state.bytes.count
            states[identity] = (connection, state)
        }
        var kept: [VarlinkKeptConnection] = []
        var numbers: Set<UInt64> = []
        for (identity, descriptor) in descriptors(of: Set(states.keys)) {
            guard let (connection, state) = states[identity] else { continue }
            let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard own >= 0 else { continue }
            numbers.insert(connection.number)
            kept.append(
                VarlinkKeptConnection(
                    descriptor: own, state: state.object, identity: identity,
                    lastUse: connection.usage.lastUse))
        }
        logNotKept(connections.filter { !numbers.contains($0.number) })
        for connection in connections {
            if numbers.contains(connection.number) {
                connection.closeDescriptor()
            } else {
                connection.closeNow()
            }
        }
        return kept.sorted { $0.lastUse > $1.lastUse }
    }

    private func logNotKept(_ connections: [Connection]) {
        let reasons = connections.compactMap { connection -> String? in
            switch connection.handoverReadiness {
            case .leaving: nil
            case .notYet(let reason), .never(let reason): reason
            case .ready: "beyond what is written down, or for which there was no descriptor"
            }
        }
        guard !reasons.isEmpty else { return }
        let lines = Dictionary(grouping: reasons) { $0 }.map { "\($0.value.count) \($0.key)" }
        logger.log(
            .handoverIncomplete,
            [
                "count": "\(reasons.count)",
                "reason":
                    "not every connection can be kept: \(lines.sorted().joined(separator: ", "))",
            ])
    }

    /// The descriptors of sockets, by the kernel's number: a channel does not expose its descriptor.
    private func descriptors(of identities: Set<UInt64>) -> [UInt64: Int32] {
        var found: [UInt64: Int32] = [:]
        var descriptor: Int32 = 3
        let end = Int32(clamping: min(limits.descriptors, 1 << 20))
        while found.count < identities.count, descriptor < end {
            if let identity = VarlinkKeptConnection.identity(of: descriptor),
                identities.contains(identity)
            {
                found[identity] = descriptor
            }
            descriptor += 1
        }
        return found
    }
}

// MARK: - Taking over

extension ServerState {
    /// Adopts a channel that was connected in another process; a failed future closes it.
    func adopt(_ channel: any Channel, _ kept: KeptState) -> EventLoopFuture<Void> {
        Peer.atOtherEnd(of: channel).flatMap { [self] in identified($0) }.flatMapThrowing {
            [self] peer in
            // The kernel's word counts, not what was written down.
            guard peer.uid == kept.uid, peer.gid == kept.gid else {
                let reason =
                    "a kept connection is closed: its peer is \(peer), and uid \(kept.uid) "
                    + "gid \(kept.gid) was written down"
                logger.log(
                    .handoverIncomplete, level: .error,
                    [
                        "count": "1", "reason": "\(reason)", "peer-uid": "\(peer.uid)",
                        "peer-pid": "\(peer.pid)",
                    ])
                throw ChannelError.operationUnsupported
            }
            let connection = Connection(number: nextNumber(), peer: peer, server: self)
            connection.adopt(kept)
            try channel.pipeline.syncOperations.addHandler(connection)
        }
    }

    /// Continues all adopted connections: streams first, so that no waiting call comes before them.
    func resume() {
        let connections = all.sorted { $0.number < $1.number }
        for connection in connections { connection.resume() }
        handover = .none
        for connection in connections { connection.schedule() }
    }
}
