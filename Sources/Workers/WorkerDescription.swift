public import AtriumKit
internal import Glibc
public import Host
internal import JSONCodec
internal import Logging
internal import NIOCore
public import PluginLoader

/// The list of a plugin's settings, which a worker without a component writes.
///
/// The worker is sandboxed like any other, writes one JSON array to its first descriptor, and ends.
public enum WorkerDescription {
    /// The most bytes that the daemon reads.
    static let mostBytes = 1 << 20

    /// Writes the settings of a plugin to the daemon.
    ///
    /// - Parameters:
    ///   - code: the plugin's library or its program.
    ///   - kind: the kind of a program's components.
    ///   - id: the plugin's identifier.
    ///   - identity: the identity of the code that the daemon holds; nil: any code at the path is run.
    /// - Throws: `LaunchFailure` or `PluginProblem`, which the daemon logs.
    public static func serve(
        _ code: PluginCode, kind: Kind, id: String, identity: String?
    ) throws {
        for ignored in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(ignored, SIG_IGN) }
        for descriptor in WorkerProgram.descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let answer: JSONValue
        do {
            let settings = try settings(of: code, kind: kind, id: id, identity: identity)
            answer = ["settings": .array(settings.map { SettingDescription($0).json })]
        } catch {
            answer = ["problem": .string("\(error)")]
        }
        let bytes = JSON.encode(answer)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                write(WorkerProgram.calls, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private static func settings(
        of code: PluginCode, kind: Kind, id: String, identity: String?
    ) throws -> [Setting] {
        var code = code
        if let identity {
            code = try HeldCode.found(
                code, identity: identity, descriptor: WorkerProgram.library, plugin: id)
        }
        if case .program(let path) = code {
            return try Program.start(path, kind: kind, plugin: id, callTime: .seconds(5))
                .settings
        }
        try PluginLoading.probe(code.path, id: id)
        return try PluginLoading.settings(code.path, id: id)
    }
}

extension WorkerLauncher {
    /// Starts a worker that writes which settings a plugin takes, and ends it; `done` is called once on the event
    /// loop.
    public func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) {
        do throws(WorkerProcess.Problem) {
            let (process, descriptor, logger) = try startDescribing(plugin)
            let output = WorkerOutput.follow(process.output, on: loop, logger: logger)
            let patience = descriptionPatience
            let answer = DescriptionAnswer(descriptor, on: loop, within: patience) { bytes in
                // One that has answered ends by itself, and its exit status says more than a signal.
                process.reap(within: bytes == nil ? .zero : .milliseconds(500)) { how in
                    withExtendedLifetime(output) {
                        done(Self.settings(bytes, of: plugin, how, patience))
                    }
                }
            }
            answer.poll()
        } catch {
            done(.failure(.unavailable(reason: error.reason)))
        }
    }

    private static func settings(
        _ bytes: [UInt8]?, of plugin: Plugin, _ how: String, _ patience: TimeAmount
    ) -> Result<[SettingDescription], LaunchFailure> {
        guard let bytes else {
            return .failure(
                .unavailable(
                    reason: "The plugin \(plugin.id) did not list its settings within "
                        + "\(Duration(patience))."))
        }
        let answer = try? JSON.decode(JSONValue.self, from: bytes)
        if let problem = answer?["problem"]?.string { return .failure(.failed(reason: problem)) }
        guard let listed = answer?["settings"]?.array else {
            return .failure(
                .failed(reason: "The worker of \(plugin.id) \(how) before it listed its settings."))
        }
        return .success(listed.compactMap { SettingDescription($0) })
    }
}

/// Reads a worker's output until the worker closes its end, without blocking the loop.
///
/// It polls every few milliseconds, since the answer is small and comes once.
private final class DescriptionAnswer {
    private let descriptor: Int32
    private let loop: any EventLoop
    private let done: ([UInt8]?) -> Void
    private let deadline: NIODeadline
    private var bytes: [UInt8] = []

    /// Reads a descriptor, and closes it at the end; `done` is called once with all bytes, nil if they did not come
    /// in time, or were too many.
    init(
        _ descriptor: Int32, on loop: any EventLoop, within patience: TimeAmount,
        _ done: @escaping ([UInt8]?) -> Void
    ) {
        deadline = .now() + patience
        self.descriptor = descriptor
        self.loop = loop
        self.done = done
    }

    func poll(pause: TimeAmount = .milliseconds(1)) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes += buffer[..<count] }
        let isOpen = count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        let isOver = NIODeadline.now() >= deadline || bytes.count > WorkerDescription.mostBytes
        guard isOpen, !isOver else {
            close(descriptor)
            return done(isOpen ? nil : bytes)
        }
        let again = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: pause) {
            again.value.poll(pause: min(pause * 2, .milliseconds(20)))
        }
    }
}
