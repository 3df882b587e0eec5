public import Host

extension HostError {
    /// Locates an error in the text of its definition, with the message of `atriumctl apply`; if the error has no
    /// place there, in the line of the container's name.
    public func problem(
        in definition: ContainerDefinition, file: String
    ) -> DefinitionProblem {
        let (subject, reason, hint): (DefinitionReader.Subject, String, String?) =
            switch self {
            case .pluginNotFound(let plugin, let known):
                (
                    .plugin(plugin), "there is no plugin '\(plugin)'",
                    known.isEmpty ? nil : "there are: \(known.joined(separator: ", "))"
                )
            case .settingInvalid(let component, let setting, let reason):
                (
                    .setting(component: component, setting: setting),
                    "component '\(component)', setting '\(setting)': \(reason)", nil
                )
            case .itemsUnfit(let container, let field, let reason, let items):
                (
                    .field(field),
                    "items of '\(container)' do not fit the field '\(field)': \(reason)",
                    "change or remove them first: " + items.joined(separator: ", ")
                )
            case .limitExceeded(let limit, let value, _):
                (
                    .container, "there can be at most \(value) \(limit)",
                    LimitSettings.key(of: limit).map { "raise \($0)" }
                )
            case .containerNotFound, .componentNotFound, .componentExists, .definitionInvalid,
                .recordInvalid,
                .itemNotFound, .itemInvalid, .fieldInvalid, .fieldUnknown, .revisionMismatch,
                .readOnly,
                .filterNotFound, .scopeNotFound, .componentNotInScope, .actorNotFound,
                .commentNotFound, .conflict,
                .refused, .closed, .cursorInvalid, .parameterInvalid, .topicInvalid,
                .screenNotFound,
                .storeUnavailable, .noSpace, .componentUnavailable, .componentFailed:
                (.container, sentence, nil)
            }
        return DefinitionReader.problem(
            in: definition, file: file, at: subject, reason, hint: hint)
    }
}
