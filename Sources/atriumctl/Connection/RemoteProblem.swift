import JSONCodec
import Varlink

/// What the daemon refuses, in sentences: the one place that words its errors.
///
/// An error means the same in every interface, so the last word of its name says it all.
enum RemoteProblem {
    /// The sentence and the hint for an error.
    static func explain(_ error: VarlinkRemoteError) -> CommandFailure {
        let details = Details(error.parameters.value)
        if error.name == "org.atrium.People.StoreUnavailable" {
            return CommandFailure(
                "the person is not erased in full: \(details["reason"])", hint: retry(details))
        }
        let word = shortName(error.name)
        if let failure = missing(word, details) ?? invalid(word, details) { return failure }
        if let failure = refused(word, details) ?? transport(word, details) { return failure }
        let evidence = error.parameters.isEmpty ? "" : ": \(error.parameters)"
        return CommandFailure("the daemon answered \(error.name)\(evidence)")
    }

    /// The last word of an error's full name.
    static func shortName(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    /// Seconds after which the same call may succeed; nil when it will not.
    static func retryAfter(_ error: VarlinkRemoteError) -> Double? {
        error.parameters.value["retryAfter"]?.double
    }

    /// Whether an error says when the same call may succeed.
    static func mayPass(_ error: any Error) -> Bool {
        (error as? VarlinkRemoteError).flatMap(retryAfter) != nil
    }

    private static func missing(_ word: String, _ details: Details) -> CommandFailure? {
        switch word {
        case "ContainerNotFound":
            CommandFailure(
                "there is no container '\(details["container"])'",
                hint: "'atriumctl containers' lists what there is.")
        case "ComponentNotFound":
            CommandFailure(
                "the container '\(details["container"])' has no component "
                    + "'\(details["component"])' for this",
                hint: "'atriumctl describe \(details["container"])' lists its components.")
        case "ItemNotFound":
            CommandFailure(
                "the container '\(details["container"])' has no item '\(details["item"])'",
                hint: "'atriumctl list \(details["container"]) --search TEXT' finds items.")
        case "CommentNotFound":
            CommandFailure(
                "there is no comment '\(details["comment"])'",
                hint: "'atriumctl thread CONTAINER[/ITEM]' shows comments with their ids.")
        case "ActorNotFound":
            CommandFailure(
                "nobody called '\(details["actor"])' has taken part",
                hint: "persons are named as in web:42 or unix:1000; names are case-sensitive.")
        case "FilterNotFound": filterNotFound(details)
        case "FieldUnknown":
            CommandFailure(
                "there is no field '\(details["field"])'",
                hint: known(details["field"], details.list("known")))
        case "PluginNotFound":
            CommandFailure(
                "there is no plugin '\(details["plugin"])'",
                hint: known(details["plugin"], details.list("known")))
        case "LogLevelUnknown":
            CommandFailure(
                "there is no log level '\(details["level"])'",
                hint: known(details["level"], details.list("known")), status: .usage)
        case "ScreenNotFound":
            CommandFailure(
                "there is no screen '\(details["screen"])'",
                hint: "'atriumctl open CONTAINER' opens one and shows its id.")
        case "NoSuchMetric": CommandFailure("there is no such metric")
        case "ScopeNotFound":
            CommandFailure(
                "there is no scope '\(details["scope"])'",
                hint: known(details["scope"], details.list("known"))
                    ?? "the container has no scopes.")
        default: nil
        }
    }

    private static func filterNotFound(_ details: Details) -> CommandFailure {
        let (section, filter) = (details["section"], details["filter"])
        let list = details.list("known")
        let sentence =
            filter.isEmpty
            ? "there is no section of filters '\(section)'"
            : "there is no filter '\(section)=\(filter)'"
        if let reason = details.optional("reason") {
            // Its first clause says what the sentence does.
            let advice = reason.firstRange(of: "; ").map { reason[$0.upperBound...] }
            return CommandFailure(sentence, hint: String(advice ?? reason[...]))
        }
        // Where the section is unknown too, the list names sections.
        let wanted = Nearest.name(to: filter, in: list) == nil ? section : filter
        return CommandFailure(
            sentence,
            hint: known(wanted, list)
                ?? "'atriumctl filters CONTAINER' lists sections and filters.")
    }

    private static func invalid(_ word: String, _ details: Details) -> CommandFailure? {
        switch word {
        case "DefinitionInvalid":
            CommandFailure(
                "\(details["file"]):\(details["line"]):\(details["column"]): "
                    + details["reason"], hint: details.optional("hint"))
        case "FieldInvalid":
            CommandFailure(
                "item '\(details["item"])', field '\(details["field"])': expected "
                    + "\(details["expected"]), found \(details["found"])")
        case "ItemInvalid":
            CommandFailure("item '\(details["item"])': \(details["reason"])")
        case "ItemsUnfit":
            CommandFailure(
                "items of '\(details["container"])' do not fit the field "
                    + "'\(details["field"])': \(details["reason"])",
                hint: "change or remove them first: "
                    + details.list("items").prefix(10).joined(separator: ", "))
        case "RecordInvalid":
            CommandFailure(
                "the record '\(details["key"])' of '\(details["component"])': "
                    + details["reason"])
        case "SettingInvalid":
            CommandFailure(
                "component '\(details["component"])', setting '\(details["setting"])': "
                    + details["reason"],
                hint: "'atriumctl plugin describe ID' lists a plugin's settings.")
        case "CursorInvalid":
            CommandFailure(
                details["reason"], hint: "list again from the start, without --cursor.")
        case "TopicInvalid":
            CommandFailure("the topic '\(details["topic"])': \(details["reason"])")
        case "ParameterInvalid":
            CommandFailure("\(details["parameter"]): \(details["reason"])")
        default: nil
        }
    }

    private static func refused(_ word: String, _ details: Details) -> CommandFailure? {
        switch word {
        case "Refused", "ReloadFailed":
            CommandFailure(details["reason"], hint: retry(details))
        case "ReadOnly":
            CommandFailure(
                "the component '\(details["component"])' takes no items: \(details["reason"])")
        case "LimitExceeded":
            CommandFailure(
                details.optional("message")
                    ?? beyond(details["limit"], details["value"])
                    + (details.optional("setting").map { " (\($0))" } ?? ""),
                hint: more(details))
        case "StoreUnavailable":
            CommandFailure(
                "the store is unavailable, nothing was changed: \(details["reason"])",
                hint: retry(details))
        case "NoSpace":
            CommandFailure(
                "there is no room beside the store in \(details["path"]): "
                    + "\(details.bytes("needed")) are needed, \(details.bytes("free")) are free",
                hint: "free some on that file system, or move the state directory to a bigger one.")
        case "ComponentUnavailable":
            CommandFailure(
                "the component '\(details["component"])' does not answer now: "
                    + details["reason"], hint: retry(details))
        case "RevisionMismatch":
            CommandFailure(
                "the item '\(details["item"])' was changed meanwhile (revision "
                    + "\(details["found"]), expected at most \(details["expected"]))",
                hint: "look at it, then try again.")
        case "Conflict":
            CommandFailure("the comment '\(details["comment"])': \(details["reason"])")
        case "ComponentExists":
            CommandFailure(
                "the container '\(details["container"])' has a component "
                    + "'\(details["component"])' already",
                hint: "take another name, or detach it first.")
        case "RoleRequired":
            CommandFailure(
                "\(details["method"]) wants the role \(details["role"]); yours is "
                    + details["yours"],
                hint: "an administrator gives roles to users and groups in the daemon's "
                    + "configuration.")
        case "ActorForbidden":
            CommandFailure("you may not act for '\(details["actor"])': \(details["reason"])")
        default: nil
        }
    }

    /// What a limit of the daemon means for the one who ran into it.
    private static func beyond(_ limit: String, _ value: String) -> String {
        switch limit {
        case "pageItems": "a page holds 1 to \(value)"
        case "batchItems": "one call takes at most \(value) items"
        case "batchBytes": "one call takes items of at most \(value) bytes"
        case "payloadBytes": "a notification holds at most \(value) bytes"
        case "topics": "one subscription names at most \(value) topics"
        case "screensPerUser": "you have \(value) screens open already, and no more are taken"
        case "screenBytesPerUser":
            "what your screens show takes more than the \(value) bytes of memory that it may"
        case "searchBytes": "a text to search for has at most \(value) bytes"
        case "writesPerMinute": "one person writes at most \(value) times in a minute"
        case "bytesPerMinute": "one person writes at most \(value) bytes in a minute"
        case "frontendWritesPerMinute": "a front end writes at most \(value) times in a minute"
        case "frontendBytesPerMinute": "a front end writes at most \(value) bytes in a minute"
        case "frontendPeople":
            "\(value) people of the front end are known already, and nobody new may write"
        case "sortFields": "a list is sorted by at most \(value) fields"
        case "selectedFilters": "at most \(value) filters are selected at a time"
        case "countedFilters": "at most \(value) written texts and ranges are counted at a time"
        case "filterBytes":
            "a filter's id, or the text that it looks for, has at most \(value) bytes"
        case "selectionBytes": "all selected filters together have at most \(value) bytes"
        case "waitingQueries": "\(value) of your queries that take long wait for their turn already"
        case "containers", "components", "screens", "exports", "backups", "erasures":
            "there are \(value) \(limit) already, and no more are taken"
        default: "that is beyond the limit \(limit) of \(value)"
        }
    }

    private static func transport(_ word: String, _ details: Details) -> CommandFailure? {
        switch word {
        case "InterfaceNotFound":
            CommandFailure(
                "there is no interface '\(details["interface"])'",
                hint: "'atriumctl interfaces' lists them.")
        case "MethodNotFound":
            CommandFailure(
                "there is no method '\(details["method"])'",
                hint: "'atriumctl introspect INTERFACE' lists the methods of an interface.")
        case "MethodNotImplemented":
            CommandFailure("\(details["method"]) is not implemented")
        case "InvalidParameter":
            CommandFailure(
                "the parameter '\(details["parameter"])' is missing, unknown or of another type",
                hint: "'atriumctl introspect INTERFACE' shows what a method takes.")
        case "PermissionDenied": CommandFailure("you may not call this method")
        case "ExpectedMore":
            CommandFailure("the method answers with a series of replies", hint: "add --more.")
        case "ExpectedUpgrade":
            CommandFailure("the method goes on in another protocol", hint: "add --upgrade.")
        default: nil
        }
    }

    /// What there is, the most similar first.
    private static func known(_ wanted: String, _ list: [String]) -> String? {
        guard !list.isEmpty else { return nil }
        let nearest = Nearest.name(to: wanted, in: list).map { "did you mean '\($0)'? " } ?? ""
        let shown = list.prefix(30).joined(separator: ", ")
        return "\(nearest)There is: \(shown)\(list.count > 30 ? ", …" : ".")"
    }

    /// What to do about a limit.
    private static func more(_ details: Details) -> String? {
        guard let setting = details.optional("setting") else { return retry(details) }
        let wait = details.value["retryAfter"]?.double.map {
            "try again in \(Wording.duration($0)); "
        }
        return (wait ?? "") + "an administrator can raise \(setting) in the daemon's atrium.yaml."
    }

    private static func retry(_ details: Details) -> String? {
        details.value["retryAfter"]?.double.map { "try again in \(Wording.duration($0))." }
    }
}

/// The parameters of an error, for sentences.
private struct Details {
    let value: JSONValue

    init(_ value: JSONValue) {
        self.value = value
    }

    /// The parameter in words; empty where it is absent.
    subscript(name: String) -> String { optional(name) ?? "" }

    func optional(_ name: String) -> String? {
        switch value[name] {
        case .string(let text): text
        case .null, nil: nil
        case let other?: String(decoding: JSON.encode(other), as: UTF8.self)
        }
    }

    /// An amount of bytes, for people.
    func bytes(_ name: String) -> String { Wording.bytes(value[name]?.int ?? 0) }

    func list(_ name: String) -> [String] { (value[name]?.array ?? []).compactMap(\.string) }
}
