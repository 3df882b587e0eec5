import Interfaces
import JSONCodec
import Varlink

/// The texts of the daemon's errors, and the exit statuses: no other place has any.
enum RemoteProblem {
    /// The sentence, the hint and the exit status for an error.
    static func explain(_ error: VarlinkRemoteError) -> CommandFailure {
        if let error = error.as(People.StoreUnavailable.self) {
            return CommandFailure(
                "the erasure did not finish: \(error.reason)", hint: retry(error.retryAfter))
        }
        if case .componentNotFound(let container, let component)? = InterfaceError(error) {
            return CommandFailure(
                ComponentProblem.sentence(container, component, ComponentProblem.kind(error.name)),
                hint: "'atriumctl describe \(container)' lists its components.")
        }
        if let error = InterfaceError(error) { return explain(error) }
        if let error = VarlinkService.Failure(error) { return explain(error) }
        if let error = error.as(VarlinkLimitExceeded.self) { return CommandFailure(error.message) }
        // An error of a newer daemon, or of another service.
        let evidence = error.parameters.isEmpty ? "" : ": \(error.parameters)"
        return CommandFailure("the daemon answered \(error.name)\(evidence)")
    }

    private static func explain(_ error: InterfaceError) -> CommandFailure {
        switch error {
        case .containerNotFound(let container):
            CommandFailure(
                "there is no container '\(Wording.cut(container))'",
                hint: "'atriumctl containers' lists what there is.")
        case .componentNotFound(let container, let component):
            CommandFailure(
                ComponentProblem.sentence(container, component, nil),
                hint: "'atriumctl describe \(container)' lists its components.")
        case .itemNotFound(let container, let item):
            CommandFailure(
                "the container '\(Wording.cut(container))' has no item '\(Wording.cut(item))'",
                hint: "'atriumctl list \(container) --search TEXT' finds items.")
        case .commentNotFound(let comment):
            CommandFailure(
                "there is no comment '\(Wording.cut(comment))'",
                hint: "'atriumctl thread CONTAINER[/ITEM]' shows comments with their ids.")
        case .actorNotFound(let actor):
            CommandFailure(
                "nobody called '\(Wording.cut(actor))' has taken part",
                hint: "persons are named as in web:42 or unix:1000; names are case-sensitive.")
        case .filterNotFound(let section, let filter, let known, let reason):
            filterNotFound(section, filter, known: known, reason)
        case .fieldUnknown(let field, let known):
            CommandFailure(
                "there is no field '\(Wording.cut(field))'", hint: Nearest.hint(field, known))
        case .pluginNotFound(let plugin, let known):
            CommandFailure(
                "there is no plugin '\(Wording.cut(plugin))'", hint: Nearest.hint(plugin, known))
        case .logLevelUnknown(let level, let known):
            CommandFailure(
                "there is no log level '\(Wording.cut(level))'", hint: Nearest.hint(level, known),
                status: .usage)
        case .screenNotFound(let screen):
            CommandFailure(
                "there is no screen '\(Wording.cut(screen))'",
                hint: "'atriumctl open CONTAINER' opens one and shows its id.")
        case .noSuchMetric: CommandFailure("there is no such metric")
        case .scopeNotFound(let scope, let known):
            CommandFailure(
                "there is no scope '\(Wording.cut(scope))'",
                hint: Nearest.hint(scope, known) ?? "the container has no scopes.")
        case .definitionInvalid(let file, let line, let column, let reason, let hint):
            CommandFailure(
                line > 0 ? "\(file):\(line):\(column): \(reason)" : "\(file): \(reason)", hint: hint
            )
        case .fieldInvalid(let item, let field, let expected, let found):
            CommandFailure(
                "item '\(Wording.cut(item))', field '\(Wording.cut(field))': "
                    + "expected \(expected), found \(found)")
        case .itemInvalid(let item, let reason):
            CommandFailure("item '\(Wording.cut(item))': \(reason)")
        case .itemsUnfit(let container, let field, let reason, let items):
            CommandFailure(
                "items of '\(container)' do not fit the field '\(Wording.cut(field))': \(reason)",
                hint: "change or remove them first: "
                    + items.prefix(10).joined(separator: ", "))
        case .recordInvalid(let component, let key, let reason):
            CommandFailure("the record '\(Wording.cut(key))' of '\(component)': \(reason)")
        case .settingInvalid(let component, let setting, let reason):
            CommandFailure(
                "component '\(component)', setting '\(setting)': \(reason)",
                hint: "'atriumctl plugin describe ID' lists a plugin's settings.")
        case .cursorInvalid(let reason):
            CommandFailure(reason, hint: "list again from the start, without --cursor.")
        case .topicInvalid(let topic, let reason):
            CommandFailure("the topic '\(Wording.cut(topic))': \(reason)")
        case .parameterInvalid(let parameter, let reason):
            CommandFailure("\(parameter): \(reason)")
        case .refused(let reason, let retryAfter):
            CommandFailure(reason, hint: retry(retryAfter))
        case .closed(let container, let reason):
            CommandFailure(
                reason, hint: "'atriumctl reopen \(container)' does that.")
        case .reloadFailed(let reason): CommandFailure(reason)
        case .readOnly(let component, let reason):
            CommandFailure("the component '\(component)' takes no items: \(reason)")
        case .limitExceeded(let limit, let value, let retryAfter, let setting):
            CommandFailure(
                LimitWording.sentence(limit, value) + (setting.map { " (\($0))" } ?? ""),
                hint: LimitWording.hint(setting: setting, retryAfter: retryAfter))
        case .storeUnavailable(let reason, let retryAfter):
            CommandFailure(
                "the store is unavailable, nothing was changed: \(reason)",
                hint: retry(retryAfter))
        case .noSpace(let path, let needed, let free):
            CommandFailure(
                "there is no room beside the store in \(path): \(Wording.bytes(needed)) are "
                    + "needed, \(Wording.bytes(free)) are free",
                hint: "free some on that file system, or move the state directory to a bigger one.")
        case .componentUnavailable(let component, let reason, let retryAfter):
            CommandFailure(
                "the component '\(component)' does not answer now: \(reason)",
                hint: retry(retryAfter))
        case .revisionMismatch(let item, let expected, let found):
            CommandFailure(
                "the item '\(Wording.cut(item))' was changed meanwhile (revision \(found), expected at most "
                    + "\(expected))", hint: "look at it, then try again.")
        case .conflict(let comment, let reason):
            CommandFailure("the comment '\(Wording.cut(comment))': \(reason)")
        case .componentExists(let container, let component):
            CommandFailure(
                "the container '\(Wording.cut(container))' has a component '\(component)' already",
                hint: "take another name, or detach it first.")
        case .roleRequired(let method, let role, let yours):
            CommandFailure("\(method) wants the role \(role); yours is \(yours)")
        case .actorForbidden(let actor, let reason):
            CommandFailure("you may not act for '\(Wording.cut(actor))': \(reason)")
        }
    }

    private static func filterNotFound(
        _ section: String, _ filter: String, known: [String], _ reason: String?
    ) -> CommandFailure {
        let sentence =
            filter.isEmpty
            ? "there is no section of filters '\(Wording.cut(section))'"
            : "there is no filter '\(Wording.cut(section))=\(Wording.cut(filter))'"
        if let reason {
            // The reason's first clause repeats the sentence.
            let advice = reason.firstRange(of: "; ").map { reason[$0.upperBound...] }
            return CommandFailure(sentence, hint: String(advice ?? reason[...]))
        }
        let other = "'atriumctl filters CONTAINER' lists sections and filters."
        if Nearest.name(to: filter, in: known) != nil {
            return CommandFailure(sentence, hint: Nearest.hint(filter, known))
        }
        // Without a reason the section is unknown, too, and `known` lists sections.
        return CommandFailure(
            "there is no section of filters '\(Wording.cut(section))'",
            hint: Nearest.hint(section, known) ?? other)
    }

    private static func explain(_ error: VarlinkService.Failure) -> CommandFailure {
        switch error {
        case .interfaceNotFound(let interface):
            CommandFailure(
                "there is no interface '\(Wording.cut(interface))'",
                hint: "'atriumctl interfaces' lists them.")
        case .methodNotFound(let method):
            CommandFailure(
                "there is no method '\(Wording.cut(method))'",
                hint: "'atriumctl introspect INTERFACE' lists the methods of an interface.")
        case .methodNotImplemented(let method): CommandFailure("\(method) is not implemented")
        case .invalidParameter(let parameter):
            CommandFailure(
                "the parameter '\(Wording.cut(parameter))' is missing, unknown or of another type",
                hint: "'atriumctl introspect INTERFACE' shows what a method takes.")
        case .permissionDenied: CommandFailure("you may not call this method")
        case .expectedMore:
            CommandFailure("the method answers with a series of replies", hint: "add --more.")
        case .expectedUpgrade:
            CommandFailure("the method goes on in another protocol", hint: "add --upgrade.")
        }
    }

    private static func retry(_ seconds: Double?) -> String? {
        seconds.map { Wording.retry(after: $0) + "." }
    }
}
