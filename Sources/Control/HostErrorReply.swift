import Host
import Interfaces
import Varlink

/// Maps the host's errors to those of the control protocol.
extension HostError {
    /// The error that a method of an interface replies with; `hasDetails`: the method is for those who look after
    /// components, who learn how one failed.
    func reply(
        of interface: any VarlinkInterface.Type, hasDetails: Bool = false
    ) -> VarlinkRemoteError {
        published(hasDetails: hasDetails).reply(of: interface)
    }

    /// The error as the interfaces declare it; this is the only place that maps cases.
    func published(hasDetails: Bool = false) -> InterfaceError {
        switch self {
        case .containerNotFound(let name): .containerNotFound(container: name)
        case .componentNotFound(let container, let component):
            .componentNotFound(container: container, component: component)
        case .componentExists(let container, let component):
            .componentExists(container: container, component: component)
        case .pluginNotFound(let plugin, let known): .pluginNotFound(plugin: plugin, known: known)
        case .settingInvalid(let component, let setting, let reason):
            .settingInvalid(component: component, setting: setting, reason: reason)
        case .definitionInvalid(let container, let reason):
            // The host has no text, and so no position.
            .definitionInvalid(file: container, line: 0, column: 0, reason: reason, hint: nil)
        case .itemsUnfit(let container, let field, let reason, let items):
            .itemsUnfit(container: container, field: field, reason: reason, items: items)
        case .recordInvalid(let component, let key, let reason):
            .recordInvalid(component: component, key: key, reason: reason)
        case .itemNotFound(let container, let item):
            .itemNotFound(container: container, item: item)
        case .itemInvalid(let item, let reason): .itemInvalid(item: item, reason: reason)
        case .fieldInvalid(let item, let field, let expected, let found):
            .fieldInvalid(item: item, field: field, expected: expected, found: found)
        case .fieldUnknown(let field, let known): .fieldUnknown(field: field, known: known)
        case .revisionMismatch(let item, let expected, let found):
            .revisionMismatch(item: item, expected: Int(expected), found: Int(found))
        case .readOnly(let component, let reason): .readOnly(component: component, reason: reason)
        case .filterNotFound(let section, let filter, let known, let reason):
            .filterNotFound(section: section, filter: filter, known: known, reason: reason)
        case .scopeNotFound(let scope, let known): .scopeNotFound(scope: scope, known: known)
        case .componentNotInScope: .parameterInvalid(parameter: "component", reason: sentence)
        case .actorNotFound(let actor): .actorNotFound(actor: actor)
        case .commentNotFound(let comment): .commentNotFound(comment: comment)
        case .conflict(let comment, let reason): .conflict(comment: comment, reason: reason)
        case .refused(let reason, let retryAfter):
            .refused(reason: reason, retryAfter: retryAfter)
        case .closed(let container, let reason): .closed(container: container, reason: reason)
        case .cursorInvalid(let reason): .cursorInvalid(reason: reason)
        case .limitExceeded(let limit, let value, let retryAfter):
            .limitExceeded(
                limit: limit, value: value, retryAfter: retryAfter,
                setting: LimitSettings.key(of: limit))
        case .parameterInvalid(let parameter, let reason):
            .parameterInvalid(parameter: parameter, reason: reason)
        case .topicInvalid(let topic, let reason): .topicInvalid(topic: topic, reason: reason)
        case .screenNotFound(let screen): .screenNotFound(screen: screen)
        case .storeUnavailable(let reason, let retryAfter):
            .storeUnavailable(reason: reason, retryAfter: retryAfter)
        case .noSpace(let path, let needed, let free):
            .noSpace(path: path, needed: needed, free: free)
        case .componentUnavailable(let component, let reason, let retryAfter):
            .componentUnavailable(component: component, reason: reason, retryAfter: retryAfter)
        case .componentFailed(let failure):
            failure.published(hasDetails ? failure.details : failure.reason)
        }
    }
}

extension ComponentFailure {
    fileprivate func published(_ reason: String) -> InterfaceError {
        isOfCall
            ? .refused(reason: reason, retryAfter: retryAfter)
            : .componentUnavailable(component: component, reason: reason, retryAfter: retryAfter)
    }
}
