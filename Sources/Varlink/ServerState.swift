internal import JSONCodec
internal import LogMessages
internal import Logging
internal import NIOCore

/// The state that the connections of a server share.
///
/// Unchecked: all mutable state is used only on the event loop. The runtime does not check exclusive access to the
/// properties that each call uses.
final class ServerState: @unchecked Sendable {
    let eventLoop: any EventLoop
    private(set) var limits: VarlinkLimits
    /// The number of bytes up to which every method takes a call.
    private(set) var unhurriedBytes: Int
    let logger: Logger
    let router: VarlinkRouter
    let table: MethodTable
    let meters: CallMeters?

    @exclusivity(unchecked) var statistics = VarlinkStatistics()
    var accounts = UserAccounts()
    private var peerLog: PeerLog

    /// Memory for encoding one reply, used again for the next.
    @exclusivity(unchecked) private var writer = JSONWriter()

    /// The progress of a handover of its connections.
    @exclusivity(unchecked) var handover = Handover.none

    private var isStopping = false
    private var listeners: [any Channel] = []
    private var connections: [UInt64: Connection] = [:]
    /// The most connections at a time, counted anew after each crowd that left.
    private var mostConnections = 0
    private var isReliefScheduled = false
    private var lastNumber: UInt64 = 0
    private var whenEmpty: EventLoopPromise<Void>?
    /// Connections of which it is not known yet on whose account they are.
    private var identifying = 0

    private(set) var isSweepScheduled = false

    @exclusivity(unchecked) var turns: ConnectionTurns
    /// The time for which calls may still be started before the loop polls.
    @exclusivity(unchecked) var budget: StartBudget
    /// The connections with calls that were postponed: their users take turns.
    var postponed = UserTurns<Connection>()
    let nextPoll: NextPoll

    init(eventLoop: any EventLoop, router: VarlinkRouter, limits: VarlinkLimits, logger: Logger) {
        self.eventLoop = eventLoop
        self.limits = limits
        unhurriedBytes = limits.methodBytes.values.min() ?? .max
        self.logger = logger
        self.router = router
        table = router.makeTable()
        meters = router.metrics.map { [table] in CallMeters(table.methodNames, $0) }
        peerLog = PeerLog(lines: limits.logLines, logger: logger)
        turns = ConnectionTurns(most: TimeAmount(limits.startTime).nanoseconds)
        budget = StartBudget(limits.startTime)
        nextPoll = NextPoll(eventLoop)
    }

    deinit { eventLoop.execute { [nextPoll] in nextPoll.close() } }

    /// Between which numbers of bytes a channel turns from writable to not, and back.
    var waterMark: ChannelOptions.Types.WriteBufferWaterMark {
        let high = max(limits.writableBytes, 2)
        return .init(low: high / 2, high: high)
    }

    /// Accepts a channel that was just connected; a failed future refuses it.
    func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard !isStopping else {
            return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        channel.keepFromPrograms()
        return Peer.atOtherEnd(of: channel).flatMap { [self] peer in
            // One that is refused anyway need not be known better.
            refusal(of: peer) == nil ? identified(peer) : eventLoop.makeSucceededFuture(peer)
        }.flatMapThrowing { [self] peer in
            let pipeline = channel.pipeline.syncOperations
            if let reason = router.refuses?(peer) {
                statistics.refusedConnections += 1
                log(.connectionRefused, reason, peer)
                throw ChannelError.operationUnsupported
            }
            if let refusal = refusal(of: peer) {
                statistics.refusedConnections += 1
                log(.connectionRefused, refusal.message, peer)
                return try pipeline.addHandler(Farewell(refusal))
            }
            try pipeline.addHandler(Connection(number: nextNumber(), peer: peer, server: self))
        }
    }

    /// Sets the limits for what comes from now on.
    func limit(to limits: VarlinkLimits) {
        let writableBytes = self.limits.writableBytes
        self.limits = limits
        unhurriedBytes = limits.methodBytes.values.min() ?? .max
        // The channels' water marks go with it.
        self.limits.writableBytes = writableBytes
        for connection in connections.values { connection.input.frames.limit = limits.frameBytes }
        scheduleSweep()
    }

    /// A peer with whose account it is on; meanwhile it counts as a connection of the user it runs as.
    func identified(_ peer: Peer) -> EventLoopFuture<Peer> {
        guard let identify = router.identify else { return eventLoop.makeSucceededFuture(peer) }
        let promise = eventLoop.makePromise(of: Peer.self)
        identifying += 1
        accounts.open(peer.uid)
        identify(peer) { promise.succeed($0) }
        return promise.futureResult.map { [self] identified in
            identifying -= 1
            accounts.close(peer.uid)
            return identified
        }
    }

    private func refusal(of peer: Peer) -> VarlinkLimitExceeded? {
        let room = ConnectionRoom(limits, descriptors: limits.descriptors)
        if connections.count + identifying >= room.connections {
            return VarlinkLimitExceeded(
                limit: "connections", value: room.connections,
                message: "all \(room.connections) connections are taken (\(room.reason))")
        }
        if accounts.connections(of: peer.uid) >= room.connectionsPerUser,
            peer.subordinate != nil || !limits.unlimitedUsers.contains(peer.uid)
        {
            return VarlinkLimitExceeded(
                limit: "connectionsPerUser", value: room.connectionsPerUser,
                message: "uid \(peer.uid) has all \(room.connectionsPerUser) connections that a "
                    + "user may have (\(room.reasonPerUser))")
        }
        let bytes = accounts.bytes(of: peer.uid)
        if bytes > limits.bytesPerUser {
            return VarlinkLimitExceeded(
                limit: "bytesPerUser", value: limits.bytesPerUser,
                message:
                    "calls of uid \(peer.uid) that are under way keep \(bytes) bytes in memory, "
                    + "more than the \(limits.bytesPerUser) of a user (limits.bytesPerUser): try "
                    + "again when they have ended")
        }
        return nil
    }

    /// Logs that a connection is closed or refused.
    func log(_ message: LogMessage, _ reason: String, _ peer: Peer) {
        peerLog.log(
            message, ["reason": reason], uid: peer.uid, pid: peer.pid, now: .now)
        scheduleSweep()
    }

    /// Logs a call that its peer may not make.
    func logDenied(_ method: String, _ reason: String, _ peer: Peer) {
        peerLog.log(
            .callDenied, ["method": method, "reason": reason],
            uid: peer.uid, pid: peer.pid, now: .now)
        scheduleSweep()
    }

    /// The counters, with what the connections hold at this moment.
    var currentStatistics: VarlinkStatistics {
        var result = statistics
        for connection in connections.values {
            result.callsInFlight += connection.calls.count
            result.bytesQueued += connection.bytesQueued
        }
        result.bytesCharged = accounts.bytes
        return result
    }

    /// An empty writer for encoding one reply, to be given back.
    func takeWriter() -> JSONWriter {
        var result = JSONWriter()
        swap(&result, &writer)
        return result
    }

    /// Takes back the writer; one that has grown for a big reply is released.
    func giveBack(_ used: consuming JSONWriter) {
        guard used.capacity <= 256 << 10 else { return }
        used.removeAll()
        writer = used
    }

    /// A number that no connection has had.
    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// All connections, in no order.
    var all: [Connection] { Array(connections.values) }

    func add(_ connection: Connection) {
        connections[connection.number] = connection
        mostConnections = max(mostConnections, connections.count)
        accounts.open(connection.peer.uid)
        scheduleSweep()
        statistics.acceptedConnections += 1
        statistics.connections = connections.count
        if isStopping { connection.stop() }
    }

    func remove(_ connection: Connection) {
        connections[connection.number] = nil
        accounts.close(connection.peer.uid)
        statistics.connections = connections.count
        scheduleRelief()
        guard connections.isEmpty else { return }
        if isStopping { nextPoll.close() }
        whenEmpty?.succeed()
    }

    private var hasCrowdLeft: Bool {
        mostConnections >= 64 && connections.count < mostConnections / 2
    }

    private func scheduleRelief() {
        guard !isReliefScheduled, !isStopping, hasCrowdLeft, let action = router.whenCrowdLeft
        else { return }
        isReliefScheduled = true
        eventLoop.scheduleTask(in: TimeAmount(action.after)) { [weak self] in
            guard let self else { return }
            isReliefScheduled = false
            guard hasCrowdLeft else { return }
            mostConnections = connections.count
            action.run()
        }
    }

    func add(listener: any Channel) {
        if isStopping { return listener.close(promise: nil) }
        listeners.append(listener)
    }

    /// Schedules a check of all connections, which repeats as long as one of them needs it.
    ///
    /// There is one timer for all of them, so that a call hardly ever sets one.
    func scheduleSweep() {
        guard !isSweepScheduled, !isStopping else { return }
        isSweepScheduled = true
        eventLoop.scheduleTask(in: sweepInterval) { [weak self] in self?.sweep() }
    }

    private var sweepInterval: TimeAmount {
        let most = TimeAmount.seconds(15)
        guard let handshake = limits.handshake else { return most }
        return min(most, max(.milliseconds(1), TimeAmount(handshake / Self.sweepsOfHandshake)))
    }

    private static let sweepsOfHandshake = 4

    private func sweep() {
        isSweepScheduled = false
        let patience =
            limits.handshake.map { TimeAmount($0).nanoseconds / sweepInterval.nanoseconds } ?? 0
        for connection in connections.values { connection.sweep(patience: Int(patience)) }
        peerLog.sweep(now: .now)
        if peerLog.isBusy || connections.values.contains(where: \.needsSweep) { scheduleSweep() }
    }

    /// Closes every connection that is accepted from now on.
    func refuseConnections() {
        isStopping = true
        peerLog.end()
        for listener in listeners { listener.close(promise: nil) }
        listeners = []
        if connections.isEmpty { nextPoll.close() }
    }

    /// Stops accepting connections and calls; completes when the last connection has closed.
    func stop(within deadline: TimeAmount) -> EventLoopFuture<Void> {
        handover = .none
        refuseConnections()
        let promise = whenEmpty ?? eventLoop.makePromise(of: Void.self)
        whenEmpty = promise
        guard !connections.isEmpty else {
            promise.succeed()
            return promise.futureResult
        }
        let timer = eventLoop.scheduleTask(in: deadline) { [self] in
            logger.log(.stopCutShort, ["count": "\(connections.count)"])
            for connection in connections.values { connection.closeNow() }
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        for connection in connections.values { connection.stop() }
        return promise.futureResult
    }
}
