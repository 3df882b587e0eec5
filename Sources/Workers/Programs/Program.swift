internal import AtriumKit
internal import Glibc
internal import Host
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// The component of a program: one class for each kind.
protocol ProgramComponent: Component {
    /// Calls `Hello`.
    static func greet(_ program: Program) throws -> Program.Greeting

    /// The error of `Start` that names a setting; nil: it is another error.
    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError?
}

/// A plugin's program: the calls to it, and what follows from its faults.
///
/// Its guarantees, whatever the kind:
///
/// - **An invalid reply to a call that decides is a refusal** with the plugin's name: these calls change nothing.
/// - **Any other fault ends the process.** The state of a program that ended, did not reply in time, or broke the
///   protocol is unknown. The host starts the component again, by its rules for workers.
///
/// A worker has one program. It is used on the worker's loop, but ``ProgramContents`` calls it on a thread, and then
/// only there.
final class Program {
    /// The reply of a program to `Hello`.
    struct Greeting {
        var version: Int
        var settings: [PluginInterfaces.Setting]
        var defaults: [String: Value]
    }

    /// The version of the protocols of all kinds.
    static let version = 1

    /// The program of this process.
    ///
    /// It is static because settings are read from the class, before there is a component. It is set once, on the
    /// worker's loop, before any call to the component, and is read there only.
    nonisolated(unsafe) private(set) static var current: Program?

    /// The settings that the program declared.
    private(set) var settings: [AtriumKit.Setting] = []
    /// The names of the settings whose values may change while the component runs.
    private var live: Set<String> = []

    private let plugin: String
    /// The time that a call may take, other than the first ones.
    private let deadline: Duration
    private let process: ProgramProcess
    /// The methods that the program does not implement.
    private var missing: Set<String> = []

    /// Starts the program of this process, unless it is running, and finds the class of its component.
    ///
    /// - Parameters:
    ///   - path: the program's path.
    ///   - kind: the kind of its component.
    ///   - plugin: the plugin's identifier.
    ///   - callTime: the host's limit for a call.
    /// - Returns: the class.
    /// - Throws: the problem as a sentence, and whether a retry may help.
    static func start(
        _ path: String, kind: Kind, plugin: String, callTime: Duration
    ) throws(LaunchFailure) -> any Component.Type {
        let component: any ProgramComponent.Type =
            switch kind {
            case .contents: ProgramContents.self
            case .filters: ProgramFilters.self
            case .votes: ProgramVotes.self
            case .comments: ProgramComments.self
            }
        if current == nil {
            let program = try Program(path, plugin: plugin, callTime: callTime)
            try program.greet(component)
            current = program
        }
        return component
    }

    private init(_ path: String, plugin: String, callTime: Duration) throws(LaunchFailure) {
        self.plugin = plugin
        deadline = ProgramProcess.deadline(where: callTime)
        do throws(ProgramFailure) {
            process = try ProgramProcess(path)
        } catch {
            throw Self.launchFailure(path, plugin, error)
        }
    }

    /// The program of this process, which a component is made with.
    static func started() throws(Refusal) -> Program {
        guard let current else { throw Refusal("There is no program.") }
        return current
    }

    // MARK: The start

    private func greet(_ component: any ProgramComponent.Type) throws(LaunchFailure) {
        do {
            let greeting = try component.greet(self)
            guard greeting.version == Self.version else {
                throw ProgramFailure(
                    "speaks the version \(greeting.version) of the protocol, and this worker \(Self.version)"
                )
            }
            settings = try Self.settings(greeting)
            live = Set(greeting.settings.filter { $0.live == true }.map(\.name))
        } catch {
            let failure =
                error as? ProgramFailure ?? ProgramFailure("answered 'Hello' with \(error)")
            throw launchFailure(failure)
        }
    }

    /// Makes a call of the start, `Hello` or `Start`; throws `SettingError` for a setting that it refuses,
    /// `ProgramFailure` for any other fault.
    func ask<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        for component: any ProgramComponent.Type
    ) throws -> Method.Reply {
        do {
            return try process.client.call(
                method, parameters, within: ProgramProcess.startDeadline)
        } catch {
            if let error = error as? VarlinkRemoteError,
                let invalid = component.invalidSetting(error)
            {
                throw SettingError(invalid.setting, String(invalid.reason.prefix(1_000)))
            }
            throw failure(method.name, error)
        }
    }

    /// Describes a fault of the start, so that the component is not made.
    func launchFailure(_ failure: ProgramFailure) -> LaunchFailure {
        Self.launchFailure(process.path, plugin, failure)
    }

    // MARK: Calls

    /// Whether the component can go on with other settings: only values of live ones differ.
    func canTake(_ settings: Settings, inPlaceOf before: Settings) -> Bool {
        self.settings.allSatisfy { live.contains($0.name) || settings[$0] == before[$0] }
    }

    /// Makes a call that the program may refuse, and that changes nothing.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - parameters: its parameters; not evaluated for a method that the program does not implement.
    ///   - refusal: the refusal that an error of the method stands for; nil: the method has no such error.
    /// - Returns: the reply; nil if the program does not implement the method.
    /// - Throws: the refusal, or one that quotes an invalid reply.
    func judge<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: @autoclosure () -> Method.Parameters,
        refusal: (VarlinkRemoteError) -> Refusal?
    ) throws(Refusal) -> Method.Reply? {
        guard !missing.contains(method.name) else { return nil }
        do {
            return try process.client.call(method, parameters(), within: deadline)
        } catch let error as VarlinkRemoteError {
            guard error.name != VarlinkService.MethodNotImplemented.name else {
                missing.insert(method.name)
                return nil
            }
            throw refusal(error) ?? invalid(method.name, "the error \(error)")
        } catch let error as JSONError {
            throw invalid(method.name, "what it does not return: \(error)")
        } catch {
            end(failure(method.name, error).reason)
        }
    }

    /// The refusal of a decision to which the program replied with something invalid, which is logged.
    func invalid(_ method: String, _ what: String) -> Refusal {
        let reason = sentence("answered '\(Self.word(method))' with \(what.prefix(500))")
        print(reason)
        return Refusal(reason)
    }

    /// Makes a call that must succeed; any fault ends the process.
    func sure<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, within limit: Duration? = nil
    ) -> Method.Reply {
        do {
            return try process.client.call(method, parameters, within: limit ?? deadline)
        } catch {
            end(failure(method.name, error).reason)
        }
    }

    /// Calls `Stop`, waits up to a second for the reply, and closes the socket.
    func stop<Method: VarlinkMethod>(_ method: Method.Type, _ parameters: Method.Parameters) {
        _ = try? process.client.call(method, parameters, within: .seconds(1))
        process.client.close()
    }

    /// Prints the reason, which is logged, and ends this process and with it the program.
    ///
    /// - Parameter reason: the continuation of "The program PATH of the plugin ID".
    func end(_ reason: String) -> Never {
        // What the program prints of its closed socket comes before the reason: the host quotes the last line.
        process.client.close()
        _ = process.end()
        print(sentence(reason))
        _exit(70)
    }

    // MARK: Words

    private func print(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func sentence(_ reason: String) -> String {
        Self.sentence(process.path, plugin, reason)
    }

    private static func sentence(_ path: String, _ plugin: String, _ reason: String) -> String {
        "The program \(path) of the plugin \(plugin) \(reason)."
    }

    private static func launchFailure(
        _ path: String, _ plugin: String, _ failure: ProgramFailure
    ) -> LaunchFailure {
        let reason = sentence(path, plugin, failure.reason)
        return failure.mayPass ? .unavailable(reason: reason) : .failed(reason: reason)
    }

    private static func word(_ method: String) -> Substring {
        method.split(separator: ".").last ?? ""
    }

    /// Describes a program's fault that made a call fail.
    private func failure(_ method: String, _ error: any Error) -> ProgramFailure {
        let method = Self.word(method)
        switch error {
        case let error as VarlinkConnectionError where error.kind == .closed:
            let end = process.end()
            return ProgramFailure(
                "\(end?.words ?? "closed its socket") when it was asked '\(method)'",
                mayPass: end?.isBySignal ?? false)
        case let error as VarlinkConnectionError:
            return ProgramFailure(
                "failed when it was asked '\(method)': \(error)", mayPass: error.kind == .timedOut)
        case let error as VarlinkRemoteError:
            return ProgramFailure("answered '\(method)' with the error \("\(error)".prefix(500))")
        default:
            return ProgramFailure(
                "answered '\(method)' with what it does not return: \("\(error)".prefix(500))")
        }
    }
}
