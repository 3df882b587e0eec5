import Glibc
import Logging
import Synchronization
import Systemd
import Varlink

/// The control socket that the daemon makes where systemd has made none for it.
///
/// A manager that keeps descriptors has it from the moment it listens: who connects while the daemon
/// is restarted, or after a crash, waits and is answered by the next process. In the store it is
/// called by its file, so that one whose file was removed or replaced, or that is configured no more,
/// is told from the one that clients reach: it is closed and removed.
///
/// Whether it will be started again, a daemon that is told to stop can't know: under such a manager
/// the file stays, refuses once it was stopped for good, and is replaced at the next start.
final class OwnSocket: Sendable {
    private static let prefix = "listening-"
    /// Members of its group may connect; what they may do is the daemon's own decision.
    private static let mode: UInt32 = 0o660
    /// How long systemd may take to let go of a socket.
    private static let patience = Duration.seconds(2)

    private struct State {
        /// What the manager has kept, as long as it was not looked at.
        var kept: [PassedDescriptors.Descriptor]
        var listener: VarlinkListener?
        var isKept = false
    }

    private let store: DescriptorStore?
    private let logger: Logger
    private let state: Mutex<State>

    /// Takes the sockets that the process before left.
    ///
    /// - Parameters:
    ///   - passed: what systemd passed; ours are taken out of it.
    ///   - store: where sockets are kept; nil: nowhere.
    ///   - logger: told of what is kept no more.
    init(taking passed: inout PassedDescriptors, in store: DescriptorStore?, logger: Logger) {
        self.store = store
        self.logger = logger
        state = Mutex(State(kept: passed.take { $0.name.hasPrefix(Self.prefix) }))
    }

    /// How many places of the store it takes.
    var placesInStore: Int { state.withLock { $0.isKept ? 1 : 0 } }

    /// Goes on with the socket of the process before if clients still reach it, else makes one.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - group: the file's group; nil: as it is made.
    /// - Returns: the listening descriptor.
    /// - Throws: `VarlinkBindError`.
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

    /// Gives the file to a group.
    func give(toGroup group: String) {
        guard let listener = state.withLock({ $0.listener }) else { return }
        do {
            try listener.allow(mode: Self.mode, group: group)
        } catch {
            logger.warning(
                "the control socket can't be given to its group",
                metadata: ["group": "\(group)", "reason": "\(error)"])
        }
    }

    /// Keeps none: systemd has made the sockets.
    func dropAll() { _ = takeOver(at: nil, group: nil) }

    /// The file goes, unless the next process may go on with it.
    func close() {
        state.withLock { state in
            if !state.isKept { state.listener?.removeFile() }
            state.listener = nil
        }
    }

    /// The socket that was kept for a path; all others are kept no more.
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
        // A path is free once systemd has let go, too.
        if taken == nil, !kept.isEmpty { store?.wait(upTo: Self.patience) }
        return taken
    }

    /// The socket, if its file is still there.
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
