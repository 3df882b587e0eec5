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
/// - `listening-…`: a socket that the daemon made itself, see ``OwnSocket``;
/// - `screens`: what was chosen on each screen, a file in memory that is written to at each choice, so
///   that a crash leaves it too;
/// - `state`: after an orderly stop, what belongs to the connections, and what screens had shown;
/// - `connection`: after an orderly stop, the clients' connections;
/// - `end`: an empty file. It is given last: where it is missing, not everything found room.
///
/// Connections are not kept over a crash: how much of a call had been read by then, or of a reply
/// written, nobody knows, and a client that is not told would wait for ever.
///
/// Without a manager that keeps descriptors nothing of this happens.
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

    /// What of that which the process before left is still to be taken over.
    private struct Arrived {
        var connections: [Int32]
        var state: HandoverState?
        var adopted = 0
        /// Whether nothing is left to be taken over.
        var isOver = false
    }

    /// What the process before left.
    fileprivate struct Passed {
        var connections: [Int32]
        var states: [Int32]
        var screens: [Int32]
        var ends: [Int32]
    }

    /// Takes what the process before left.
    ///
    /// - Parameters:
    ///   - descriptors: what systemd passed; ours are taken out of it.
    ///   - store: where it is kept; nil: nowhere.
    ///   - logger: where it is told what can't be kept.
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
    /// Brings back screens; before the server listens, and after containers are known.
    ///
    /// Who resumes a screen waits until its container is loaded.
    func takeScreens(_ registry: Registry, _ loop: any EventLoop) async {
        guard store != nil else { return }
        let state = readState()
        arrived.withLock { $0.state = state }
        await restore(state?.screens ?? readScreens(), registry, loop)
    }

    /// Goes on with connections; after ``takeScreens(_:_:)``.
    ///
    /// - Parameters:
    ///   - server: whose they are from now on.
    ///   - ofAdminsAlone: whether only root's and our own user's are taken: what others may do is not known
    ///     yet, and their connections wait for another call of this.
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
        // Only now: a process that fails before this leaves them to the next.
        if !passed.connections.isEmpty { store.remove(Name.connection) }
        if !passed.states.isEmpty { store.remove(Name.state) }
        if !passed.ends.isEmpty { store.remove(Name.end) }
        if let state { tell(state, adopted: adopted, store) }
    }

    /// Whether a connection is root's or our own user's, who are admins whatever the settings say.
    private static func isAdmins(_ connection: VarlinkKeptConnection) -> Bool {
        connection.uid == 0 || connection.uid == ownUser
    }

    /// Says what became of that which was handed over.
    private func tell(_ state: HandoverState, adopted: Int, _ store: DescriptorStore) {
        let missing = state.count - passed.connections.count
        let hadRoom = !state.hasEnd || !passed.ends.isEmpty
        if !hadRoom, missing > 0 {
            let reason =
                "\(missing) of \(state.count) connections were not kept: systemd's store for "
                + "descriptors is full. FileDescriptorStoreMax= is less than FDSTORE= says, which "
                + "is \(store.capacity): set both to \(Self.wanted(state.count)) or more in the unit"
            logger.tell(.handoverIncomplete, ["count": "\(missing)", "reason": "\(reason)"])
        }
        guard state.count > 0 || !state.screens.isEmpty else { return }
        logger.tell(
            .tookOver,
            [
                "connections": "\(adopted)", "screens": "\(state.screens.count)",
                "gone": "\(state.count - adopted - (hadRoom ? 0 : max(0, missing)))",
            ])
    }

    private func readState() -> HandoverState? {
        guard let descriptor = passed.states.last else {
            if !passed.connections.isEmpty { tellUnusable("its description is missing") }
            return nil
        }
        do {
            return try HandoverState(try MemoryFile(descriptor: descriptor).read())
        } catch {
            tellUnusable("\(error)")
            return nil
        }
    }

    private func tellUnusable(_ why: String) {
        let count = passed.connections.count
        let reason =
            "\(count) connections are closed, since what the daemon before left can't be used: "
            + why
        logger.tell(.handoverIncomplete, ["count": "\(count)", "reason": "\(reason)"])
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
                note(screens, of: registry)
                registry.restoreScreens(screens, digest: \.digest)
                continuation.resume()
            }
        }
    }

    private func note(_ screens: [KeptScreen], of registry: Registry) {
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

extension Handover.Passed {
    /// Nobody goes on with it.
    fileprivate func close() {
        for descriptor in connections + states + screens + ends { Glibc.close(descriptor) }
    }
}
