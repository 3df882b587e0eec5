internal import AtriumKit
internal import Host
internal import PluginLoader

/// A call from the daemon to a worker.
///
/// Most are calls of `ComponentPort`. Each is answered by one ``WorkerAnswer``, in order.
enum WorkerCall: Sendable, Hashable {
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
    /// Asks a source, whose answer is sent later as a message with this number.
    case ask(Int, ContentQuestion)
    case reload
    /// How many screens show the component.
    case audience(Int)
    case pass(LifecyclePhase)
    /// Gives the component other settings; answered as `start` is.
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

    /// What the answer is checked against; nil: the answer is no decision and answers no query.
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
struct WorkerStart: Sendable, Hashable {
    var kind: Kind
    var container: String
    var component: String
    var settings: [String: Value]
    var secrets: [String: String]
    var fields: [Field]
    /// How long a call may take.
    var callMilliseconds: Int
    /// The most bytes that the component may have kept.
    var keptBytes: Int
}

extension WorkerStart {
    /// Takes what the worker needs from a launch request.
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
enum WorkerAnswer: Sendable, Hashable {
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

// MARK: As values

extension WorkerCall: WireCodable {
    var wire: Value {
        switch self {
        case .keptPart(let bytes): .wire("keptPart", ["bytes": WireBytes(bytes)])
        case .start(let start): .wire("start", ["start": start])
        case .restore(let changes): .wire("restore", ["changes": changes])
        case .finishRestore: .wire("finishRestore")
        case .giveMore: .wire("giveMore")
        case .decide(let command, let context):
            .wire("decide", ["command": command, "context": context])
        case .answer(let query): .wire("answer", ["query": query])
        case .readImage(let number, let item, let field):
            .wire("readImage", ["number": number, "item": item, "field": field])
        case .undo(let changes): .wire("undo", ["changes": changes])
        case .reportPart(let values): .wire("reportPart", ["values": values])
        case .report(let values, let cut):
            .wire("report", ["values": values, "cut": cut.sorted()])
        case .deliver(let notification): .wire("deliver", ["notification": notification])
        case .ask(let number, let question):
            .wire("ask", ["number": number, "question": question])
        case .reload: .wire("reload")
        case .audience(let screens): .wire("audience", ["screens": screens])
        case .pass(let phase): .wire("pass", ["phase": phase])
        case .take(let settings): .wire("take", ["settings": settings])
        case .close: .wire("close")
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "keptPart":
            let bytes: WireBytes = try object("bytes")
            self = .keptPart(bytes.bytes)
        case "start": self = .start(try object("start"))
        case "restore": self = .restore(try object("changes"))
        case "finishRestore": self = .finishRestore
        case "giveMore": self = .giveMore
        case "decide": self = .decide(try object("command"), try object("context"))
        case "answer": self = .answer(try object("query"))
        case "readImage":
            self = .readImage(
                try object("number"), item: try object("item"), field: try object("field"))
        case "undo": self = .undo(try object("changes"))
        case "reportPart": self = .reportPart(try object("values"))
        case "report":
            let cut: [String] = try object("cut")
            self = .report(try object("values"), cut: Set(cut))
        case "deliver": self = .deliver(try object("notification"))
        case "ask": self = .ask(try object("number"), try object("question"))
        case "reload": self = .reload
        case "audience": self = .audience(try object("screens"))
        case "pass": self = .pass(try object("phase"))
        case "take": self = .take(try object("settings"))
        case "close": self = .close
        default: throw object.unknownCase(of: "WorkerCall")
        }
    }
}

extension WorkerStart: WireCodable {
    var wire: Value {
        .wire(members: [
            "kind": kind, "container": container, "component": component,
            "settings": settings, "secrets": secrets, "fields": fields,
            "callMilliseconds": callMilliseconds, "keptBytes": keptBytes,
        ])
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        self.init(
            kind: try object("kind"), container: try object("container"),
            component: try object("component"), settings: try object("settings"),
            secrets: try object("secrets"), fields: try object("fields"),
            callMilliseconds: try object("callMilliseconds"), keptBytes: try object("keptBytes"))
    }
}

extension WorkerAnswer: WireCodable {
    var wire: Value {
        switch self {
        case .started(let kind, let fields, let preselection, let facts, let asks):
            .wire(
                "started",
                [
                    "kind": kind, "observedFields": fields, "preselection": preselection,
                    "facts": facts, "asks": asks,
                ])
        case .notStarted(.setting(let error)): .wire("settingInvalid", ["error": error])
        case .notStarted(.failed(let reason)): .wire("failed", ["reason": reason])
        case .notStarted(.unavailable(let reason)): .wire("unavailable", ["reason": reason])
        case .restored(let events, let isLast):
            .wire("restored", ["events": events, "isLast": isLast])
        case .decided(let decision): .wire("decided", ["decision": decision])
        case .answered(let answer): .wire("answered", ["answer": answer])
        case .refused(let refusal): .wire("refused", ["refusal": refusal])
        case .tooLong(let bytes): .wire("tooLong", ["bytes": bytes])
        case .done: .wire("done")
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "started":
            self = .started(
                try object("kind"), observedFields: try object("observedFields"),
                preselection: try object("preselection"), facts: try object("facts"),
                asks: try object("asks"))
        case "settingInvalid": self = .notStarted(.setting(try object("error")))
        case "failed": self = .notStarted(.failed(reason: try object("reason")))
        case "unavailable": self = .notStarted(.unavailable(reason: try object("reason")))
        case "restored": self = .restored(try object("events"), isLast: try object("isLast"))
        case "decided": self = .decided(try object("decision"))
        case "answered": self = .answered(try object("answer"))
        case "refused": self = .refused(try object("refusal"))
        case "tooLong": self = .tooLong(bytes: try object("bytes"))
        case "done": self = .done
        default: throw object.unknownCase(of: "WorkerAnswer")
        }
    }
}

extension ComponentMessage: WireCodable {
    var wire: Value {
        switch self {
        case .raised(let events): .wire("raised", ["events": events])
        case .publishes(let name, let payload):
            .wire("publishes", ["name": name, "payload": payload])
        case .observes(let pattern): .wire("observes", ["pattern": pattern])
        case .logs(let level, let message):
            .wire("logs", ["level": level, "message": message])
        case .reports(let problem): .wire("reports", ["problem": problem])
        case .keeps(let bytes): .wire("keeps", ["bytes": bytes.map { WireBytes($0) }])
        case .answers(let number, .success(let answer)):
            .wire("answers", ["number": number, "answer": answer])
        case .answers(let number, .failure(let refusal)):
            .wire("refuses", ["number": number, "refusal": refusal])
        case .image(let number, .success(let image)):
            .wire("image", ["number": number, "image": image])
        case .image(let number, .failure(let refusal)):
            .wire("noImage", ["number": number, "refusal": refusal])
        }
    }

    init(wire: Value) throws(WireError) {
        let object = try WireObject(wire)
        switch try object.caseName() {
        case "raised": self = .raised(try object("events"))
        case "publishes": self = .publishes(try object("name"), try object("payload"))
        case "observes": self = .observes(try object("pattern"))
        case "logs": self = .logs(try object("level"), try object("message"))
        case "reports": self = .reports(problem: try object("problem"))
        case "keeps":
            let bytes: WireBytes? = try object("bytes")
            self = .keeps(bytes?.bytes)
        case "answers":
            self = .answers(try object("number"), .success(try object("answer")))
        case "refuses":
            self = .answers(try object("number"), .failure(try object("refusal")))
        case "image": self = .image(try object("number"), .success(try object("image")))
        case "noImage":
            self = .image(try object("number"), .failure(try object("refusal")))
        default: throw object.unknownCase(of: "ComponentMessage")
        }
    }
}
