import Control
import Glibc
import Host
import LogMessages
import Logging
import NIOCore
import Synchronization
import Systemd
import Varlink

/// Lets a restarted daemon continue where the previous process stopped.
///
/// The service manager stores these descriptors from one process to the next:
/// - `listening-…`: a socket that the daemon created itself, see ``OwnSocket``.
/// - `screens`: the choices made on each screen, in a memory file that is updated at each choice, so it survives a
///   crash.
/// - `state`: after an orderly stop, the state of the connections, and what screens showed.
/// - `connection`: after an orderly stop, the clients' connections.
/// - `end`: an empty file, stored last: if it is missing, the store had no room for everything.
///
/// Connections are not kept over a crash. It would be unknown how much of a call had been read, or of a reply
/// written, and a client that gets no error would wait for ever.
///
/// If the manager does not store descriptors, none of this happens.
final class Handover: Sendable {
    enum Name {
        static let screens = "screens"
        static let state = "state"
        static let connection = "connection"
        static let end = "end"
    }

    let store: DescriptorStore?
    let logger: Logger
    private let passed: Passed
    private let arrived: Mutex<Arrived>

    /// The connections and state of the previous process that are still to be adopted.
    private struct Arrived {
        var connections: [Int32]
        var state: HandoverState?
        var adopted = 0
        /// Whether everything was adopted.
        var isOver = false
    }

    /// The descriptors that the previous process left.
    fileprivate struct Passed {
        var connections: [Int32]
        var states: [Int32]
        var screens: [Int32]
        var ends: [Int32]
    }

    /// Takes the descriptors that the previous process left out of those from systemd; logs what can't be kept.
    init(
        taking descriptors: inout PassedDescriptors, in store: DescriptorStore?, logger: Logger
    ) {
        self.store = store
        self.logger = logger
        passed = Passed(
            connections: descriptors.take(named: Name.connection),
            states: descriptors.take(named: Name.state),
            screens: descriptors.take(named: Name.screens),
            ends: descriptors.take(named: Name.end))
        arrived = Mutex(Arrived(connections: passed.connections))
    }
}

// MARK: - Taking over

extension Handover {
    /// Restores screens; call it before the server listens, and after containers are known.
    ///
    /// A client that resumes a screen waits until its container is loaded.
    func takeScreens(_ registry: Registry, _ loop: any EventLoop) async {
        guard store != nil else { return }
        let state = readState()
        arrived.withLock { $0.state = state }
        await restore(state?.screens ?? readScreens(), registry, loop)
    }

    /// Adopts connections, after ``takeScreens(_:_:)``; while roles are not known yet, only those of root and of the
    /// daemon's own user.
    func takeConnections(on server: VarlinkServer, ofAdminsAlone: Bool = false) async {
        let (waiting, state, isOver) = arrived.withLock { arrived in
            defer {
                arrived.connections = []
                if store == nil { arrived.isOver = true }
            }
            return (arrived.connections, arrived.state, arrived.isOver)
        }
        guard !isOver else { return }
        guard let store else { return passed.close() }
        var kept: [VarlinkKeptConnection] = []
        var rest: [Int32] = []
        for descriptor in waiting {
            guard let connection = state?.connection(descriptor) else {
                close(descriptor)
                continue
            }
            if ofAdminsAlone, !Self.isAdmins(connection) {
                rest.append(descriptor)
            } else {
                kept.append(connection)
            }
        }
        let count = await server.adopt(kept)
        let adopted: Int? = arrived.withLock { [rest] arrived in
            arrived.connections += rest
            arrived.adopted += count
            guard arrived.connections.isEmpty, !arrived.isOver else { return nil }
            arrived.isOver = true
            return arrived.adopted
        }
        guard let adopted else { return }
        for descriptor in passed.states + passed.screens + passed.ends { close(descriptor) }
        // Removed only now: if the process fails before, the next one finds them.
        if !passed.connections.isEmpty { store.remove(Name.connection) }
        if !passed.states.isEmpty { store.remove(Name.state) }
        if !passed.ends.isEmpty { store.remove(Name.end) }
        if let state { log(state, adopted: adopted, store) }
    }

    /// Whether a connection's user is root or the daemon's own, who are admins regardless of the settings.
    private static func isAdmins(_ connection: VarlinkKeptConnection) -> Bool {
        connection.uid == 0 || connection.uid == ownUser
    }

    /// Logs which connections and screens were handed over.
    private func log(_ state: HandoverState, adopted: Int, _ store: DescriptorStore) {
        let missing = state.count - passed.connections.count
        let hadRoom = !state.hasEnd || !passed.ends.isEmpty
        if !hadRoom, missing > 0 {
            let reason =
                "\(missing) of \(state.count) connections were not kept: systemd's store for "
                + "descriptors is full. FileDescriptorStoreMax= is less than FDSTORE= says, which "
                + "is \(store.capacity): set both to \(Self.wanted(state.count)) or more in the unit"
            logger.log(.handoverIncomplete, ["count": "\(missing)", "reason": "\(reason)"])
        }
        guard state.count > 0 || !state.screens.isEmpty else { return }
        logger.log(
            .tookOver,
            [
                "connections": "\(adopted)", "screens": "\(state.screens.count)",
                "gone": "\(state.count - adopted - (hadRoom ? 0 : max(0, missing)))",
            ])
    }

    private func readState() -> HandoverState? {
        guard let descriptor = passed.states.last else {
            if !passed.connections.isEmpty { logUnusable("its description is missing") }
            return nil
        }
        do {
            return try HandoverState(try MemoryFile(descriptor: descriptor).read())
        } catch {
            logUnusable("\(error)")
            return nil
        }
    }

    private func logUnusable(_ why: String) {
        let count = passed.connections.count
        let reason =
            "\(count) connections are closed, since what the daemon before left can't be used: "
            + why
        logger.log(.handoverIncomplete, ["count": "\(count)", "reason": "\(reason)"])
    }

    private func readScreens() -> [KeptScreen] {
        guard let descriptor = passed.screens.last else { return [] }
        let screens = try? HandoverScreens.screens(in: MemoryFile(descriptor: descriptor))
        guard let screens else {
            logger.log(
                .handoverIncomplete,
                ["reason": "what the daemon before left of its screens can't be used"])
            return []
        }
        return screens
    }

    /// Restores screens, and starts to write later choices to the file.
    private func restore(
        _ screens: [KeptScreen], _ registry: Registry, _ loop: any EventLoop
    ) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { [self] in
                storeScreens(screens, of: registry)
                registry.keptScreens.restore(screens, digest: \.digest)
                continuation.resume()
            }
        }
    }

    private func storeScreens(_ screens: [KeptScreen], of registry: Registry) {
        do throws(MemoryFileError) {
            let list = try HandoverScreens()
            for screen in screens { try list.write(.chosen(screen)) }
            store?.remove(Name.screens)
            store?.add([list.file.descriptor], name: Name.screens)
            registry.screens.setReceiver { [logger] in list.write($0, logger: logger) }
        } catch {
            logger.log(
                .handoverIncomplete, ["reason": "screens would be lost in a crash: \(error)"])
        }
    }
}

extension Handover.Passed {
    /// Closes all descriptors without using them.
    fileprivate func close() {
        for descriptor in connections + states + screens + ends { Glibc.close(descriptor) }
    }
}
