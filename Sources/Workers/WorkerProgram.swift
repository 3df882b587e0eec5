internal import CProcess
// The C library's `stdout` is a variable; nobody sets it.
@preconcurrency internal import Glibc
internal import Interfaces
internal import JSONCodec
public import Logging
internal import NIOCore
internal import NIOPosix
public import PluginLoader
internal import Varlink

/// What `atrium-worker` does when the daemon starts it: serves one component on the descriptors that
/// it was given.
public enum WorkerProgram {
    /// The connection on which the daemon calls.
    private static let tells: Int32 = 3
    /// The connection on which the worker answers.
    private static let stream: Int32 = 4

    /// Serves a component until the daemon ends it or is gone.
    ///
    /// - Parameters:
    ///   - code: the plugin's library or its program.
    ///   - id: the plugin's identifier.
    ///   - logger: told of a daemon that makes no sense.
    /// - Throws: when the descriptors are not connected sockets: it was not the daemon who started
    ///   this process.
    public static func serve(_ code: PluginCode, id: String, logger: Logger) async throws {
        prepareProcess()
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let ended = loop.makePromise(of: Void.self)
        let session = try await loop.submit {
            // Also when a plugin hangs and nobody reads the sockets. The kernel keeps this wish with
            // the thread that has it: one that lasts.
            _ = process_end_with_parent()
            // This thread is the one that calls the component.
            process_tell_crashes()
            return NIOLoopBound(
                WorkerSession(code: code, id: id, loop: loop) { ended.succeed() },
                eventLoop: loop)
        }.get()
        var router = VarlinkRouter(
            vendor: "Atrium", product: "atrium-worker", version: AtriumVersion.current, url: "")
        SessionService(session: session, logger: logger).register(in: &router)
        let server = VarlinkServer(
            on: loop, router: router, limits: WorkerLink.workerLimits, logger: logger)
        do {
            try await server.serve(tells)
            try await server.serve(stream)
        } catch {
            ended.fail(NotStartedByDaemon(reason: "\(error)"))
        }
        // A daemon that was gone before the kernel knew our wish, or lets go before it listens.
        loop.scheduleTask(in: .seconds(30)) {
            if !session.value.isAttached { ended.succeed() }
        }
        try await ended.futureResult.get()
    }

    private static func prepareProcess() {
        // When to end is the daemon's to say: what a terminal or a service manager sends to the
        // whole group must not take components away while accepted calls are being finished.
        for ignored in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(ignored, SIG_IGN) }
        for descriptor in [tells, stream] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // The daemon reads what is printed line by line; nothing of it may be lost in a crash.
        setvbuf(stdout, nil, _IOLBF, 0)
    }
}

/// The descriptors are not what the daemon passes.
private struct NotStartedByDaemon: Error, CustomStringConvertible {
    let reason: String

    var description: String {
        "the descriptors 3 and 4 are no connected sockets (\(reason)): only atriumd starts a worker "
            + "this way"
    }
}

/// Passes calls on to the session.
private struct SessionService: WorkerService {
    let session: NIOLoopBound<WorkerSession>
    let logger: Logger

    func attach(
        _ parameters: Worker.Attach.Parameters, call: VarlinkCall<Worker.Attach.Reply>
    ) {
        session.value.attach(call)
    }

    func tell(_ parameters: Worker.Tell.Parameters, call: VarlinkCall<Worker.Tell.Reply>) {
        do {
            let wire = try WireText.decode(parameters.message.bytes)
            let told = try WorkerCall(wire: wire)
            session.value.take(parameters.id, told)
        } catch {
            // Going on would answer the wrong calls. The daemon tells how this process ended.
            logger.critical(
                "the daemon said what can't be read", metadata: ["reason": "\(error)"])
            exit(protocolError)
        }
        // Sent oneway: this only ends the call.
        call.reply(.init())
    }
}

/// The exit status for a peer that does not keep to the protocol, as in `sysexits.h`.
private let protocolError: Int32 = 76
