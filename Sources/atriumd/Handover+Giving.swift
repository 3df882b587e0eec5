import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import Synchronization
import Systemd
import Varlink

// Handing over.
extension Handover {
    // All in all less than the unit's TimeoutStopSec=, with the 10 s that closing the store may take.
    /// How long calls under way may take.
    private static let answering = Duration.seconds(10)
    /// How long what was accepted may take to be on disk.
    private static let settling = TimeAmount.seconds(4)
    /// How long systemd may take to read what it is given.
    private static let giving = Duration.seconds(2)
    /// How long peers may take to read what they were told.
    private static let reading = Duration.seconds(2)

    /// What is in the store beside connections: screens, state, end, and a socket of our own.
    private static let besides = 4

    /// How many connections a process can be given by name: all names are in one variable of its
    /// environment (`LISTEN_FDNAMES`), and with one of more than 128 KiB no program starts.
    private static let mostConnections = (127 << 10) / (Name.connection.utf8.count + 1)

    /// What the store has to take for so many connections.
    static func wanted(_ connections: Int) -> Int { connections + besides }

    /// Lets go of the clients' connections, in order, and gives those to the manager that can be kept.
    ///
    /// The server is then without connections, and the registry takes no more commands.
    ///
    /// - Parameters:
    ///   - server: whose connections.
    ///   - registry: whose screens.
    ///   - loop: where both live.
    ///   - taken: how many places of the store are taken by others.
    func handOver(
        from server: VarlinkServer, _ registry: Registry, _ loop: any EventLoop, beside taken: Int
    ) async {
        guard let store else { return }
        // Those that still wait for the directory of users: what is given below would be taken for theirs.
        await takeConnections(on: server)
        await server.pause(within: Self.answering)
        // What was accepted is told too.
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.finishAccepted(within: Self.settling) { _ in continuation.resume() }
            }
        }
        let screens = Mutex<[KeptScreen]>([])
        let released = await server.release(within: Self.reading) {
            // What ends with this process is not over.
            registry.noteScreens(nil)
            screens.withLock { $0 = registry.keptScreens(digest: \.digest) }
        }
        // Beside them are the files of screens, state and end.
        let room = min(max(0, store.capacity - taken - 3), Self.mostConnections)
        let kept = Array(released.prefix(room))
        tellWithoutRoom(released.count - kept.count, of: released.count, store)
        let state = HandoverState(
            connections: kept, screens: screens.withLock { $0 }, hasEnd: true)
        let isGiven = await Task.detached(executorPreference: QuietExecutor.shared) { [self] in
            give(state, kept, to: store)
        }.value
        for connection in released { close(connection.descriptor) }
        guard isGiven else { return }
        logger.tell(
            .handedOver,
            ["connections": "\(kept.count)", "screens": "\(state.screens.count)"])
    }

    private func tellWithoutRoom(_ count: Int, of all: Int, _ store: DescriptorStore) {
        guard count > 0 else { return }
        let limit =
            all - count < Self.mostConnections
            ? "which takes \(store.capacity): set FileDescriptorStoreMax= and FDSTORE= to "
                + "\(Self.wanted(all)) or more in the unit"
            : "from which a process can be given \(Self.mostConnections)"
        let reason =
            "\(count) of \(all) connections, those that were used least recently, find no room in "
            + "systemd's store for descriptors, \(limit)"
        logger.tell(.handoverIncomplete, ["count": "\(count)", "reason": "\(reason)"])
    }

    /// Sends what may take a while, and waits until it has arrived.
    ///
    /// - Returns: Whether it has; otherwise it was told why not.
    private func give(
        _ state: HandoverState, _ kept: [VarlinkKeptConnection], to store: DescriptorStore
    ) -> Bool {
        do throws(MemoryFileError) {
            let file = try MemoryFile(named: "atrium-state")
            defer { close(file.descriptor) }
            try file.write(state.bytes, at: 0)
            try file.seal()
            let end = try MemoryFile(named: "atrium-end")
            defer { close(end.descriptor) }
            let isTold =
                store.add([file.descriptor], name: Name.state)
                && store.add(kept.map(\.descriptor), name: Name.connection)
                && store.add([end.descriptor], name: Name.end)
            if isTold, store.wait(upTo: Self.giving) { return true }
            tellNotGiven(kept, "systemd has not said that it keeps what it was given")
        } catch {
            tellNotGiven(kept, "\(error)")
        }
        return false
    }

    private func tellNotGiven(_ kept: [VarlinkKeptConnection], _ reason: String) {
        logger.tell(
            .handoverIncomplete,
            [
                "count": "\(kept.count)",
                "reason": "it is not certain that \(kept.count) connections are kept: \(reason)",
            ])
    }
}
