import Interfaces

/// One of every error that the daemon's interfaces declare.
enum AllErrors {
    static let list = Array(
        sequence(
            first: InterfaceError.actorForbidden(actor: "a", reason: "r"),
            next: { next(after: $0) }))

    /// The cases one after the other: a new one does not compile until it has its place here.
    private static func next(after error: InterfaceError) -> InterfaceError? {
        switch error {
        case .actorForbidden: .actorNotFound(actor: "a")
        case .actorNotFound: .closed(container: "c", reason: "r")
        case .closed: .commentNotFound(comment: "c")
        case .commentNotFound: .componentExists(container: "c", component: "p")
        case .componentExists: .componentNotFound(container: "c", component: "p")
        case .componentNotFound:
            .componentUnavailable(component: "p", reason: "r", retryAfter: 1)
        case .componentUnavailable: .conflict(comment: "c", reason: "r")
        case .conflict: .containerNotFound(container: "c")
        case .containerNotFound: .cursorInvalid(reason: "r")
        case .cursorInvalid:
            .definitionInvalid(file: "f", line: 1, column: 2, reason: "r", hint: nil)
        case .definitionInvalid:
            .fieldInvalid(item: "i", field: "f", expected: "e", found: "g")
        case .fieldInvalid: .fieldUnknown(field: "f", known: ["g"])
        case .fieldUnknown: .filterNotFound(section: "s", filter: "f", known: [], reason: nil)
        case .filterNotFound: .itemInvalid(item: "i", reason: "r")
        case .itemInvalid: .itemNotFound(container: "c", item: "i")
        case .itemNotFound:
            .itemsUnfit(container: "c", field: "f", reason: "r", items: ["i"])
        case .itemsUnfit:
            .limitExceeded(limit: "screens", value: 1, retryAfter: nil, setting: nil)
        case .limitExceeded: .logLevelUnknown(level: "l", known: [])
        case .logLevelUnknown: .noSpace(path: "p", needed: 2, free: 1)
        case .noSpace: .noSuchMetric
        case .noSuchMetric: .parameterInvalid(parameter: "p", reason: "r")
        case .parameterInvalid: .pluginNotFound(plugin: "p", known: [])
        case .pluginNotFound: .readOnly(component: "p", reason: "r")
        case .readOnly: .recordInvalid(component: "p", key: "k", reason: "r")
        case .recordInvalid: .refused(reason: "r", retryAfter: nil)
        case .refused: .reloadFailed(reason: "r")
        case .reloadFailed: .revisionMismatch(item: "i", expected: 1, found: 2)
        case .revisionMismatch: .roleRequired(method: "m", role: "r", yours: "y")
        case .roleRequired: .scopeNotFound(scope: "s", known: [])
        case .scopeNotFound: .screenNotFound(screen: "s")
        case .screenNotFound: .settingInvalid(component: "p", setting: "s", reason: "r")
        case .settingInvalid: .storeUnavailable(reason: "r", retryAfter: nil)
        case .storeUnavailable: .topicInvalid(topic: "t", reason: "r")
        case .topicInvalid: nil
        }
    }
}
