internal import CProcess
// The C library's `stdout` is a variable, which no code here sets.
@preconcurrency internal import Glibc
internal import Interfaces
internal import JSONCodec
public import Logging
internal import NIOCore
internal import NIOPosix
public import PluginLoader
internal import Varlink

/// The main part of `atrium-worker`: serves one component on the descriptors that the daemon passed.
public enum WorkerProgram {
    /// The connection on which the daemon sends calls.
    static let calls: Int32 = 3
    /// The connection on which the worker sends answers and messages.
    private static let stream: Int32 = 4
    /// The descriptor of the connection for the worker's questions.
    static let questions: Int32 = 5
    /// The library's file that the daemon holds open, if it passed one.
    static let library: Int32 = 6
    /// All that the daemon passes.
    static let descriptors = [calls, stream, questions, library]

    /// Serves a component until the daemon ends it or is gone.
    ///
    /// - Parameters:
    ///   - code: the plugin's library or its program.
    ///   - id: the plugin's identifier.
    ///   - identity: the identity of the code that the daemon holds; nil: any code at the path is run.
    ///   - logger: logs a call that can't be decoded.
    /// - Throws: an error if the descriptors are not connected sockets, because the daemon did not start this process.
    public static func serve(
        _ code: PluginCode, id: String, identity: String?, logger: Logger
    ) async throws {
        prepareProcess()
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let ended = loop.makePromise(of: Void.self)
        let session = try await loop.submit {
            // Ends the worker with the daemon, even if a plugin hangs and nothing reads the sockets. The kernel ties
            // the setting to the thread that makes it, so it is made on the loop's thread, which lasts.
            _ = process_end_with_parent()
            // This thread calls the component.
            process_handle_crashes()
            return NIOLoopBound(
                WorkerSession(code: code, id: id, identity: identity, loop: loop) {
                    ended.succeed()
                },
                eventLoop: loop)
        }.get()
        var router = VarlinkRouter(
            vendor: "Atrium", product: "atrium-worker", version: AtriumVersion.current, url: "")
        SessionService(session: session, logger: logger).register(in: &router)
        let server = VarlinkServer(
            on: loop, router: router, limits: WorkerLink.workerLimits, logger: logger)
        do {
            try await server.serve(calls)
            try await server.serve(stream)
        } catch {
            ended.fail(NotStartedByDaemon(reason: "\(error)"))
        }
        // For a daemon that ended before the setting above took effect, or before it attached.
        loop.scheduleTask(in: .seconds(30)) {
            if !session.value.isAttached { ended.succeed() }
        }
        try await ended.futureResult.get()
    }

    private static func prepareProcess() {
        // The daemon decides when a worker ends. A signal that a terminal or a service manager sends to the whole
        // group must not end components while accepted calls are being finished.
        for ignored in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(ignored, SIG_IGN) }
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // The daemon reads the output line by line; no complete line may be lost in a crash.
        setvbuf(stdout, nil, _IOLBF, 0)
    }
}

/// Thrown when the descriptors are not those that the daemon passes.
private struct NotStartedByDaemon: Error, CustomStringConvertible {
    let reason: String

    var description: String {
        "the descriptors 3 and 4 are no connected sockets (\(reason)): only atriumd starts a worker "
            + "this way"
    }
}

/// Passes calls to the session.
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
            let received = try Wire.decode(WorkerCall.self, from: parameters.message.bytes)
            session.value.enqueue(parameters.id, received)
        } catch {
            // After an unreadable call, answers would go to the wrong calls. The daemon logs this exit.
            logger.critical(
                "the daemon sent an unreadable message", metadata: ["reason": "\(error)"])
            exit(protocolError)
        }
        // It was sent oneway, so this ends the call and sends nothing.
        call.reply(.init())
    }
}

/// The exit status for a peer that does not keep to the protocol, as in `sysexits.h`.
private let protocolError: Int32 = 76
