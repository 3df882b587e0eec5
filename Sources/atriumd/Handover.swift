import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import Synchronization
import Systemd
import Varlink

/// How a daemon that is restarted goes on where the one before left off.
///
/// The service manager keeps, from one process to the next:
/// - `screens`: what was chosen on each screen, a file in memory that is written to at each choice, so
///   that a crash leaves it too;
/// - `connection`: after an orderly stop, the clients' connections;
/// - `state`: after an orderly stop, what belongs to these connections, and what screens had shown.
///
/// Without a manager that keeps descriptors nothing of this happens.
final class Handover: Sendable {
    private enum Name {
        static let screens = "screens"
        static let connection = "connection"
        static let state = "state"
    }

    // All in all less than the unit's TimeoutStopSec=, with the 10 s that closing the store may take.
    /// How long calls under way may take.
    private static let answering = Duration.seconds(10)
    /// How long what was accepted may take to be on disk.
    private static let settling = TimeAmount.seconds(4)
    /// How long systemd may take to read what it is given.
    private static let giving = Duration.seconds(2)
    /// How long peers may take to read what they were told.
    private static let reading = Duration.seconds(2)

    private let store: DescriptorStore?
    private let passed: Passed
    private let logger: Logger

    /// What the process before left.
    fileprivate struct Passed {
        var connections: [Int32]
        var states: [Int32]
        var screens: [Int32]
    }

    /// Takes what the process before left.
    ///
    /// - Parameters:
    ///   - take: takes the descriptors of a name out of those that systemd passed.
    ///   - logger: where it is told what can't be kept.
    init(taking take: (String) -> [Int32], logger: Logger) {
        store = DescriptorStore { name in getenv(name).map { String(cString: $0) } }
        passed = Passed(
            connections: take(Name.connection), states: take(Name.state),
            screens: take(Name.screens))
        self.logger = logger
    }
}

// MARK: - Taking over

extension Handover {
    /// Brings back screens and connections; before the server listens, and after containers are loaded.
    func takeOver(on server: VarlinkServer, _ registry: Registry, _ loop: any EventLoop) async {
        guard let store else { return passed.close() }
        let state = readState()
        await restore(state?.screens ?? readScreens(), registry, loop)
        var kept: [VarlinkKeptConnection] = []
        for descriptor in passed.connections {
            guard let connection = state?.connection(descriptor) else {
                close(descriptor)
                continue
            }
            kept.append(connection)
        }
        let count = await server.adopt(kept)
        loop.execute { registry.assumeIsolated { $0.lingerUnread() } }
        for descriptor in passed.states + passed.screens { close(descriptor) }
        // Only now: a process that fails before this leaves them to the next.
        if !passed.connections.isEmpty { store.remove(Name.connection) }
        if !passed.states.isEmpty { store.remove(Name.state) }
        guard !passed.connections.isEmpty || !(state?.screens.isEmpty ?? true) else { return }
        logger.notice(
            "went on with connections and screens",
            metadata: [
                "connections": "\(count)", "lost": "\(passed.connections.count - count)",
                "screens": "\(state?.screens.count ?? 0)",
            ])
    }

    private func readState() -> HandoverState? {
        guard let descriptor = passed.states.last else { return nil }
        do {
            return try HandoverState(try MemoryFile(descriptor: descriptor).read())
        } catch {
            logger.tell(
                .handoverIncomplete,
                [
                    "reason": "what the daemon before left can't be used: \(error)",
                    "connections": "\(passed.connections.count)",
                ])
            return nil
        }
    }

    private func readScreens() -> [KeptScreen] {
        guard let descriptor = passed.screens.last else { return [] }
        let screens = try? HandoverScreens.screens(in: MemoryFile(descriptor: descriptor))
        guard let screens else {
            logger.tell(
                .handoverIncomplete,
                ["reason": "what the daemon before left of its screens can't be used"])
            return []
        }
        return screens
    }

    /// Brings screens back, and has what is chosen from now on written down.
    private func restore(
        _ screens: [KeptScreen], _ registry: Registry, _ loop: any EventLoop
    ) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { [self] in
                registry.assumeIsolated { registry in
                    note(screens, of: registry)
                    registry.restoreScreens(screens, digest: \.digest) { _ in
                        continuation.resume()
                    }
                }
            }
        }
    }

    private func note(_ screens: [KeptScreen], of registry: isolated Registry) {
        do throws(MemoryFileError) {
            let list = try HandoverScreens()
            for screen in screens { try list.take(.chosen(screen)) }
            store?.remove(Name.screens)
            store?.add([list.file.descriptor], name: Name.screens)
            registry.noteScreens { [logger] in list.take($0, orTell: logger) }
        } catch {
            logger.tell(
                .handoverIncomplete, ["reason": "screens will not outlive a crash: \(error)"])
        }
    }
}

// MARK: - Handing over

extension Handover {
    /// Lets go of the clients' connections, in order, and gives those to the manager that can be kept.
    ///
    /// The server is then without connections, and the registry takes no more commands.
    func handOver(from server: VarlinkServer, _ registry: Registry, _ loop: any EventLoop) async {
        guard let store else { return }
        await server.pause(within: Self.answering)
        // What was accepted is told too.
        await withCheckedContinuation { continuation in
            loop.execute {
                registry.assumeIsolated {
                    $0.settle(within: Self.settling) { _ in continuation.resume() }
                }
            }
        }
        let screens = Mutex<[KeptScreen]>([])
        let released = await server.release(within: Self.reading) {
            registry.assumeIsolated { registry in
                // What ends with this process is not over.
                registry.noteScreens(nil)
                screens.withLock { $0 = registry.keptScreens(digest: \.digest) }
            }
        }
        // Beside them the files of state and screens are in the store.
        let room = max(0, store.capacity - 2)
        let kept = Array(released.prefix(room))
        let state = HandoverState(connections: kept, screens: screens.withLock { $0 })
        await Task.detached(executorPreference: QuietExecutor.shared) { [self] in
            give(state, kept, to: store)
        }.value
        for connection in released { close(connection.descriptor) }
        logger.notice(
            "handed connections and screens to the next process",
            metadata: [
                "connections": "\(kept.count)", "screens": "\(state.screens.count)",
                "without-room": "\(released.count - kept.count)",
            ])
    }

    /// Sends what may take a while, and waits until it has arrived.
    private func give(
        _ state: HandoverState, _ kept: [VarlinkKeptConnection], to store: DescriptorStore
    ) {
        do throws(MemoryFileError) {
            let file = try MemoryFile(named: "atrium-state")
            defer { close(file.descriptor) }
            try file.write(state.bytes, at: 0)
            try file.seal()
            store.add([file.descriptor], name: Name.state)
            store.add(kept.map(\.descriptor), name: Name.connection)
            guard store.wait(upTo: Self.giving) else {
                return logger.tell(
                    .handoverIncomplete,
                    ["reason": "systemd has not said that it keeps what it was given"])
            }
        } catch {
            logger.tell(
                .handoverIncomplete, ["reason": "connections can't be kept: \(error)"])
        }
    }
}

extension Handover.Passed {
    /// Nobody goes on with it.
    fileprivate func close() {
        for descriptor in connections + states + screens { Glibc.close(descriptor) }
    }
}
