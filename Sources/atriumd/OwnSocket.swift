import Glibc
import Logging
import Synchronization
import Systemd
import Varlink

/// The control socket that the daemon creates if systemd passes none.
///
/// A manager that stores descriptors gets it as soon as it listens. Clients that connect during a restart, or after a
/// crash, wait and are answered by the next process. In the manager's store it is named after its file. So a socket
/// whose file was removed or replaced, or whose path is no longer configured, is recognised, closed and removed.
///
/// A daemon that is stopped can't know whether it will be started again. So under such a manager the file stays.
/// After a final stop it refuses connections, and the next start replaces it.
final class OwnSocket: Sendable {
    private static let prefix = "listening-"
    /// Members of its group may connect; their roles are checked by the daemon.
    private static let mode: UInt32 = 0o660
    /// The time that systemd may take to remove a socket from its store.
    private static let patience = Duration.seconds(2)

    private struct State {
        /// The stored sockets, until they have been checked.
        var kept: [PassedDescriptors.Descriptor]
        var listener: VarlinkListener?
        var isKept = false
    }

    private let store: DescriptorStore?
    private let logger: Logger
    private let state: Mutex<State>

    /// Takes the daemon's own sockets, which the previous process left, out of those from systemd; logs those that
    /// are no longer kept.
    init(taking passed: inout PassedDescriptors, in store: DescriptorStore?, logger: Logger) {
        self.store = store
        self.logger = logger
        state = Mutex(State(kept: passed.take { $0.name.hasPrefix(Self.prefix) }))
    }

    /// The number of places in the manager's store that it takes.
    var placesInStore: Int { state.withLock { $0.isKept ? 1 : 0 } }

    /// Reuses the previous process's socket at a path if clients can still reach it, else creates one of a group;
    /// returns the listening descriptor.
    func open(at path: String, group: String?) throws(VarlinkBindError) -> Int32 {
        if let listener = takeOver(at: path, group: group) {
            state.withLock { ($0.listener, $0.isKept) = (listener, true) }
            return listener.descriptor
        }
        let listener = try VarlinkListener(path: path, mode: Self.mode, group: group)
        let isKept =
            store?.add([listener.descriptor], name: Self.prefix + listener.identity) ?? false
        state.withLock { ($0.listener, $0.isKept) = (listener, isKept) }
        return listener.descriptor
    }

    /// Sets the group of the file.
    func setGroup(_ group: String) {
        guard let listener = state.withLock({ $0.listener }) else { return }
        do {
            try listener.allow(mode: Self.mode, group: group)
        } catch {
            logger.warning(
                "the control socket can't be given to its group",
                metadata: ["group": "\(group)", "reason": "\(error)"])
        }
    }

    /// Drops all stored sockets, because systemd has passed others.
    func dropAll() { _ = takeOver(at: nil, group: nil) }

    /// Removes the file, unless the next process may reuse the socket.
    func close() {
        state.withLock { state in
            if !state.isKept { state.listener?.removeFile() }
            state.listener = nil
        }
    }

    /// Takes the stored socket for a path, and drops all others.
    private func takeOver(at path: String?, group: String?) -> VarlinkListener? {
        let kept = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        var taken: VarlinkListener?
        for descriptor in kept {
            let listener = listener(descriptor)
            if taken == nil, let listener, listener.path == path,
                (try? listener.allow(mode: Self.mode, group: group)) != nil
            {
                taken = listener
            } else {
                drop(descriptor, listener)
            }
        }
        // The path is free only once systemd has closed the dropped sockets too.
        if taken == nil, !kept.isEmpty { store?.wait(upTo: Self.patience) }
        return taken
    }

    /// The socket, if its file still exists.
    private func listener(_ descriptor: PassedDescriptors.Descriptor) -> VarlinkListener? {
        guard store != nil, let socket = ListeningSocket(descriptor.number) else { return nil }
        return VarlinkListener(
            descriptor: descriptor.number, path: socket.path,
            identity: String(descriptor.name.dropFirst(Self.prefix.count)))
    }

    private func drop(_ descriptor: PassedDescriptors.Descriptor, _ listener: VarlinkListener?) {
        logger.info(
            "closing a socket of the process before, which is not needed any more",
            metadata: [
                "name": "\(descriptor.name)", "path": "\(listener?.path ?? "(its file is gone)")",
            ])
        listener?.removeFile()
        Glibc.close(descriptor.number)
        store?.remove(descriptor.name)
    }
}
