import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import Synchronization
import Systemd
import Varlink

// Hands over connections and screens to the next process.
extension Handover {
    // These times and the 10 s for closing the store must add up to less than the unit's TimeoutStopSec=.
    /// The time that calls in progress may take.
    private static let answering = Duration.seconds(10)
    /// The time that accepted entries may take to become durable.
    private static let settling = TimeAmount.seconds(4)
    /// The time that systemd may take to receive descriptors.
    private static let giving = Duration.seconds(2)
    /// The time that peers may take to read what was sent to them.
    private static let reading = Duration.seconds(2)

    /// The descriptors stored beside connections: screens, state, end, and the daemon's own socket.
    private static let besides = 4

    /// The most connections that systemd can pass to a process.
    ///
    /// All names are in one environment variable (`LISTEN_FDNAMES`), and a program can't be started with a variable
    /// of more than 128 KiB.
    private static let mostConnections = (127 << 10) / (Name.connection.utf8.count + 1)

    /// Returns the capacity of the manager's store that this many connections need.
    static func wanted(_ connections: Int) -> Int { connections + besides }

    /// Releases the clients' connections, in order, and stores as many as possible with the service manager, where
    /// other descriptors take some places.
    ///
    /// Afterwards the server has no connections, and the registry accepts no commands.
    func handOver(
        from server: VarlinkServer, _ registry: Registry, _ loop: any EventLoop, beside taken: Int
    ) async {
        guard let store else { return }
        // First adopt those that still wait for the directory of users: otherwise they would be mixed up with those
        // stored below.
        await takeConnections(on: server)
        await server.pause(within: Self.answering)
        // Wait for the outcomes of accepted commands, so that they are sent too.
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.shutdown.finishAccepted(within: Self.settling) { _ in
                    continuation.resume()
                }
            }
        }
        let screens = Mutex<[KeptScreen]>([])
        let released = await server.release(within: Self.reading) {
            // Screens that end with this process must not be noted as ended.
            registry.screens.setReceiver(nil)
            screens.withLock { $0 = registry.keptScreens.all(digest: \.digest) }
        }
        // The files of screens, state and end need places too.
        let room = min(max(0, store.capacity - taken - 3), Self.mostConnections)
        let kept = Array(released.prefix(room))
        logWithoutRoom(released.count - kept.count, of: released.count, store)
        let state = HandoverState(
            connections: kept, screens: screens.withLock { $0 }, hasEnd: true)
        let isGiven = await Task.detached(executorPreference: QuietExecutor.shared) { [self] in
            storeDescriptors(state, kept, in: store)
        }.value
        for connection in released { close(connection.descriptor) }
        guard isGiven else { return }
        logger.log(
            .handedOver,
            ["connections": "\(kept.count)", "screens": "\(state.screens.count)"])
    }

    private func logWithoutRoom(_ count: Int, of all: Int, _ store: DescriptorStore) {
        guard count > 0 else { return }
        let limit =
            all - count < Self.mostConnections
            ? "which takes \(store.capacity): set FileDescriptorStoreMax= and FDSTORE= to "
                + "\(Self.wanted(all)) or more in the unit"
            : "from which a process can be given \(Self.mostConnections)"
        let reason =
            "\(count) of \(all) connections, those that were used least recently, find no room in "
            + "systemd's store for descriptors, \(limit)"
        logger.log(.handoverIncomplete, ["count": "\(count)", "reason": "\(reason)"])
    }

    /// Stores descriptors with the manager; returns whether it has received them: if not, the reason was logged.
    private func storeDescriptors(
        _ state: HandoverState, _ kept: [VarlinkKeptConnection], in store: DescriptorStore
    ) -> Bool {
        do throws(MemoryFileError) {
            let file = try MemoryFile(named: "atrium-state")
            defer { close(file.descriptor) }
            try file.write(state.bytes, at: 0)
            try file.seal()
            let end = try MemoryFile(named: "atrium-end")
            defer { close(end.descriptor) }
            let isSent =
                store.add([file.descriptor], name: Name.state)
                && store.add(kept.map(\.descriptor), name: Name.connection)
                && store.add([end.descriptor], name: Name.end)
            if isSent, store.wait(upTo: Self.giving) { return true }
            logNotGiven(kept, "systemd did not confirm the stored descriptors")
        } catch {
            logNotGiven(kept, "\(error)")
        }
        return false
    }

    private func logNotGiven(_ kept: [VarlinkKeptConnection], _ reason: String) {
        logger.log(
            .handoverIncomplete,
            [
                "count": "\(kept.count)",
                "reason": "it is not certain that \(kept.count) connections are kept: \(reason)",
            ])
    }
}
