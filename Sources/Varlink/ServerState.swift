internal import JSONCodec
internal import Logging
internal import NIOCore

/// What the connections of a server share.
///
/// Unchecked: all that changes is guarded by the event loop, on which alone it is touched.
final class ServerState: @unchecked Sendable {
    let eventLoop: any EventLoop
    let limits: VarlinkLimits
    let logger: Logger
    let router: VarlinkRouter
    let table: MethodTable

    var statistics = VarlinkStatistics()

    /// Memory for encoding one reply, used again for the next.
    private var scratch: [UInt8] = []

    private var isStopping = false
    private var listeners: [any Channel] = []
    private var connections: [UInt64: Connection] = [:]
    private var lastNumber: UInt64 = 0
    private var whenEmpty: EventLoopPromise<Void>?

    /// Connections that have something to do in the coming turn.
    private var waiting: [Connection] = []
    private var isTurnScheduled = false

    init(eventLoop: any EventLoop, router: VarlinkRouter, limits: VarlinkLimits, logger: Logger) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.logger = logger
        self.router = router
        table = router.makeTable()
    }

    /// Between which numbers of bytes a channel turns from writable to not, and back.
    var waterMark: ChannelOptions.Types.WriteBufferWaterMark {
        let high = max(limits.writableBytes, 2)
        return .init(low: high / 2, high: high)
    }

    /// Takes in a channel that was just connected; a failed future refuses it.
    func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard !isStopping else { return refuse(channel) }
        guard connections.count < limits.connections else {
            statistics.refusedConnections += 1
            logger.warning(
                "refused a connection: all \(limits.connections) are taken (limits.connections)")
            return refuse(channel)
        }
        return Peer.atOtherEnd(of: channel).flatMapThrowing { [self] peer in
            lastNumber += 1
            let connection = Connection(number: lastNumber, peer: peer, server: self)
            try channel.pipeline.syncOperations.addHandler(connection)
        }
    }

    private func refuse(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
    }

    /// Memory for encoding one reply, to be given back.
    func takeScratch() -> [UInt8] {
        var result: [UInt8] = []
        swap(&result, &scratch)
        return result
    }

    /// Takes the memory back; what was needed for one big reply is not kept.
    func giveBack(scratch bytes: consuming [UInt8]) {
        guard bytes.capacity <= 256 << 10 else { return }
        scratch = bytes
        scratch.removeAll(keepingCapacity: true)
    }

    func add(_ connection: Connection) {
        connections[connection.number] = connection
        statistics.acceptedConnections += 1
        statistics.connections = connections.count
        if isStopping { connection.stop() }
    }

    func remove(_ connection: Connection) {
        connections[connection.number] = nil
        statistics.connections = connections.count
        if connections.isEmpty { whenEmpty?.succeed() }
    }

    func add(listener: any Channel) {
        if isStopping { return listener.close(promise: nil) }
        listeners.append(listener)
    }

    /// Gives a connection a turn of its own, after whatever runs now has returned.
    func schedule(_ connection: Connection) {
        waiting.append(connection)
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        eventLoop.execute { [self] in
            isTurnScheduled = false
            let connections = waiting
            waiting.removeAll(keepingCapacity: true)
            for connection in connections { connection.takeTurn() }
        }
    }

    /// Stops accepting connections and calls; completes when the last connection has closed.
    func stop(within deadline: TimeAmount) -> EventLoopFuture<Void> {
        isStopping = true
        for listener in listeners { listener.close(promise: nil) }
        listeners = []
        let promise = whenEmpty ?? eventLoop.makePromise(of: Void.self)
        whenEmpty = promise
        guard !connections.isEmpty else {
            promise.succeed()
            return promise.futureResult
        }
        let timer = eventLoop.scheduleTask(in: deadline) { [self] in
            logger.warning("closing what did not end in time: \(connections.count) connections")
            for connection in connections.values { connection.closeNow() }
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        for connection in connections.values { connection.stop() }
        return promise.futureResult
    }
}
