extension HostError {
    /// The error as a sentence, for logs and administrators.
    public var sentence: String {
        switch self {
        case .containerNotFound(let name): "There is no container '\(name)'."
        case .componentNotFound(let container, let component):
            "The container '\(container)' has no component '\(component)'."
        case .componentExists(let container, let component):
            "The container '\(container)' has a component '\(component)' already."
        case .pluginNotFound(let plugin, let known):
            "There is no plugin '\(plugin)'; there are: \(known.joined(separator: ", "))."
        case .settingInvalid(_, let setting, let reason): "Setting '\(setting)': \(reason)"
        case .definitionInvalid(_, let reason), .refused(let reason, _),
            .closed(_, let reason),
            .cursorInvalid(let reason), .storeUnavailable(let reason, _),
            .componentUnavailable(_, let reason, _):
            reason
        case .componentFailed(let failure): failure.details
        case .itemsUnfit(_, let field, let reason, let items):
            "The field '\(field)' does not fit \(items.joined(separator: ", ")): \(reason)"
        case .recordInvalid(let component, let key, let reason):
            "The record '\(key)' of '\(component)': \(reason)"
        case .itemNotFound(let container, let item):
            "The container '\(container)' has no item '\(item)'."
        case .itemInvalid(let item, let reason): "Item '\(item)': \(reason)"
        case .fieldInvalid(let item, let field, let expected, let found):
            "Item '\(item)', field '\(field)': expected \(expected), found \(found)."
        case .fieldUnknown(let field, let known):
            "There is no field '\(field)'; there are: \(known.joined(separator: ", "))."
        case .revisionMismatch(let item, let expected, let found):
            "Item '\(item)': expected revision \(expected) at most, found \(found)."
        case .readOnly(let component, let reason):
            "The component '\(component)' takes no items: \(reason)"
        case .filterNotFound(let section, let filter, _, let reason):
            reason ?? "The section '\(section)' has no filter '\(filter)'."
        case .scopeNotFound(let scope, let known):
            "There is no scope '\(scope)'; there are: \(known.joined(separator: ", "))."
        case .componentNotInScope(let component, let scope, let shown):
            "The scope '\(scope)' does not show '\(component)', but "
                + "\(shown.joined(separator: ", ")): omit the scope or the component."
        case .actorNotFound(let actor): "There is no person '\(actor)'."
        case .commentNotFound(let comment): "There is no comment '\(comment)'."
        case .conflict(let comment, let reason): "The comment '\(comment)': \(reason)"
        case .limitExceeded(let limit, let value, _):
            "The limit \(limit) (\(value)) is exceeded."
        case .parameterInvalid(let parameter, let reason): "\(parameter): \(reason)"
        case .topicInvalid(let topic, let reason): "The topic '\(topic)': \(reason)"
        case .screenNotFound(let screen): "There is no screen '\(screen)'."
        case .noSpace(let path, let needed, let free):
            "There is not enough space in \(path): \(needed) bytes are needed, \(free) are free."
        }
    }
}
