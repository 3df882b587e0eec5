internal import AtriumKit
internal import Host
internal import PluginLoader

/// A call from the daemon to a worker.
///
/// Most are calls of `ComponentPort`. Each is answered by one ``WorkerAnswer``, in order.
enum WorkerCall: Sendable, Hashable, Codable {
    /// A part of the bytes that the predecessor kept; these calls come first, in order.
    case keptPart([UInt8])
    /// Makes the component; the first call after the kept parts.
    case start(WorkerStart)
    case restore([Change])
    case finishRestore
    /// Requests the next part of the state that `finishRestore` began to return.
    case giveMore
    case decide(ComponentCommand, CommandContext)
    case answer(ComponentQuery)
    /// Reads a picture; the worker sends it later as a message with this number.
    case readImage(Int, item: String, field: String)
    case undo([Change])
    /// A first part of the values that the next ``report(_:cut:)`` completes.
    case reportPart([String: [Value]])
    case report([String: [Value]], cut: Set<String>)
    case deliver(Notification)
    /// A question to a source, which answers later by a message with this number.
    case ask(Int, ContentQuestion)
    case reload
    /// The number of screens that show the component.
    case audience(Int)
    case pass(LifecyclePhase)
    /// New settings of the component; answered as `start` is.
    case take([String: Value])
    /// Releases the component and ends the worker.
    case close

    /// Whether it makes or restores the component, and so may take longer.
    var isOfStart: Bool {
        switch self {
        case .keptPart, .start, .restore, .finishRestore, .giveMore: true
        default: false
        }
    }

    /// The command or query that the answer is checked against; nil: the answer is no decision and answers no query.
    var asked: AnswerCheck.Asked? {
        switch self {
        case .decide(let command, let context): .command(command, context)
        case .answer(let query): .query(query)
        default: nil
        }
    }

    /// Whether the component's owner waits for the answer.
    var isRequest: Bool {
        switch self {
        case .decide, .answer: true
        default: false
        }
    }

    /// Whether the component takes values of fields by it.
    var takesValues: Bool {
        switch self {
        case .reportPart, .report: true
        default: false
        }
    }

    /// The call's name in messages.
    var name: String {
        switch self {
        case .keptPart: "kept"
        case .start: "start"
        case .restore: "restore"
        case .finishRestore: "finishRestore"
        case .giveMore: "giveMore"
        case .decide(let command, _): command.name
        case .answer(let query): query.name
        case .readImage: "image"
        case .undo: "undo"
        case .reportPart, .report: "fieldValuesDidChange"
        case .deliver(let notification): "observe(\(notification.topic))"
        case .ask: "ask"
        case .reload: "reload"
        case .audience: "didChangeAudience"
        case .pass(let phase): phase.rawValue
        case .take: "settingsDidChange"
        case .close: "close"
        }
    }
}

/// Everything that a worker needs to make its component, other than the plugin's code, which is in its arguments.
struct WorkerStart: Sendable, Hashable, Codable {
    var kind: Kind
    var container: String
    var component: String
    var settings: [String: Value]
    var secrets: [String: String]
    var fields: [Field]
    /// The time that a call may take, in milliseconds.
    var callMilliseconds: Int
    /// The most bytes that the component may have kept.
    var keptBytes: Int
}

extension WorkerStart {
    /// Takes the values that the worker needs from a launch request.
    init(_ request: LaunchRequest) {
        self.init(
            kind: request.plugin.kind, container: request.container,
            component: request.component, settings: request.settings,
            secrets: request.secrets, fields: request.fields,
            callMilliseconds: Int(request.limits.callTime / .milliseconds(1)),
            keptBytes: request.limits.keptBytes)
    }
}

/// A worker's answer to a ``WorkerCall``.
enum WorkerAnswer: Sendable, Hashable, Codable {
    /// The component was made, or has other settings.
    case started(
        Kind, observedFields: [String], preselection: Selection, facts: ComponentFacts?,
        asks: Bool)
    /// The component could not be made.
    case notStarted(LaunchFailure)
    /// A part of the restored component's state; after the last part none may be requested.
    case restored([ComponentEvent], isLast: Bool)
    case decided(Decision)
    case answered(ComponentAnswer)
    case refused(Refusal)
    /// The answer is larger than allowed, and was not sent.
    case tooLong(bytes: Int)
    /// The call was done and has no result.
    case done
}

/// A message that a worker's component sends by itself: a ``ComponentMessage`` whose results are cases.
enum WorkerMessage: Sendable, Hashable, Codable {
    case raised([ComponentEvent])
    case publishes(String, [String: Value])
    case observes(String)
    case logs(LogLevel, String)
    case reports(problem: String?)
    case answers(Int, ContentAnswer)
    case refuses(Int, Refusal)
    case keeps([UInt8]?)
    case image(Int, ItemImage)
    case noImage(Int, Refusal)

    init(_ message: ComponentMessage) {
        self =
            switch message {
            case .raised(let events): .raised(events)
            case .publishes(let name, let payload): .publishes(name, payload)
            case .observes(let pattern): .observes(pattern)
            case .logs(let level, let message): .logs(level, message)
            case .reports(let problem): .reports(problem: problem)
            case .answers(let number, .success(let answer)): .answers(number, answer)
            case .answers(let number, .failure(let refusal)): .refuses(number, refusal)
            case .keeps(let bytes): .keeps(bytes)
            case .image(let number, .success(let image)): .image(number, image)
            case .image(let number, .failure(let refusal)): .noImage(number, refusal)
            }
    }

    var message: ComponentMessage {
        switch self {
        case .raised(let events): .raised(events)
        case .publishes(let name, let payload): .publishes(name, payload)
        case .observes(let pattern): .observes(pattern)
        case .logs(let level, let message): .logs(level, message)
        case .reports(let problem): .reports(problem: problem)
        case .answers(let number, let answer): .answers(number, .success(answer))
        case .refuses(let number, let refusal): .answers(number, .failure(refusal))
        case .keeps(let bytes): .keeps(bytes)
        case .image(let number, let image): .image(number, .success(image))
        case .noImage(let number, let refusal): .image(number, .failure(refusal))
        }
    }
}
