import AtriumKit

/// An expected failure of a call; each case names what it is about.
public enum HostError: Error, Sendable, Hashable {
    /// No container of this name.
    case containerNotFound(String)
    /// No component of this name and kind; if the call named none, `component` is the kind.
    case componentNotFound(container: String, component: String)
    /// The name is taken in this container.
    case componentExists(container: String, component: String)
    /// No plugin of this identifier is loaded.
    case pluginNotFound(String, known: [String])
    /// The component refuses a setting.
    case settingInvalid(component: String, setting: String, reason: String)
    /// A definition that can't be applied, for a reason that concerns no single component.
    case definitionInvalid(container: String, reason: String)
    /// Existing items do not fit a field's new declaration; at most ten are named.
    case itemsUnfit(container: String, field: String, reason: String, items: [String])
    /// A record that can't be restored.
    case recordInvalid(component: String, key: String, reason: String)
    /// No such item.
    case itemNotFound(container: String, item: String)
    /// An item's id or parent is invalid.
    case itemInvalid(item: String, reason: String)
    /// A field's value does not fit its declaration.
    case fieldInvalid(item: String, field: String, expected: String, found: String)
    /// There is no field of this name to sort by or to show.
    case fieldUnknown(field: String, known: [String])
    /// The item was changed after the revision that the call expects.
    case revisionMismatch(item: String, expected: Int64, found: Int64)
    /// The component takes no items.
    case readOnly(component: String, reason: String)
    /// No such section or filter; the reason says what the section takes.
    case filterNotFound(section: String, filter: String, known: [String], reason: String? = nil)
    /// No such scope.
    case scopeNotFound(String, known: [String])
    /// The component is not among those that the scope shows.
    case componentNotInScope(component: String, scope: String, shown: [String])
    /// Nobody of this name has taken part.
    case actorNotFound(String)
    /// No such comment.
    case commentNotFound(String)
    /// The comment's id belongs to another subject or actor, or its text differs from the one that the moderator saw.
    case conflict(comment: String, reason: String)
    /// A component, or the delegate of its container, refuses; with the seconds until it may accept.
    case refused(reason: String, retryAfter: Double?)
    /// The container takes no votes, or no comments, until a moderator opens it.
    case closed(container: String, reason: String)
    /// A cursor that this list did not return.
    case cursorInvalid(String)
    /// A limit is exceeded: its name and value, with the seconds until the same call may succeed.
    case limitExceeded(limit: String, value: Int, retryAfter: Double?)
    /// A parameter has the right type and an invalid value.
    case parameterInvalid(parameter: String, reason: String)
    /// A topic or a pattern is invalid, or clients may not publish under it.
    case topicInvalid(topic: String, reason: String)
    /// No such screen, or it belongs to another user.
    case screenNotFound(String)
    /// The store can't be read or written now, or the host is stopping; nothing was written.
    ///
    /// The number is the seconds until a retry may succeed; nil: the store is damaged.
    case storeUnavailable(reason: String, retryAfter: Double?)
    /// The file system has no room for a file beside the store: bytes needed, and bytes free.
    case noSpace(path: String, needed: Int, free: Int)
    /// The component's worker is not running; with the seconds until it may run.
    case componentUnavailable(component: String, reason: String, retryAfter: Double)
    /// The component failed; only moderators and administrators are sent how.
    case componentFailed(ComponentFailure)
}

/// A failure of a component, in words for everybody and in words for those who look after it.
public struct ComponentFailure: Sendable, Hashable {
    /// The component's name, or the plugin of a delegate.
    public var component: String
    /// What anybody may read: what became of the call and what to do, in sentences.
    public var reason: String
    /// How it failed, as a sentence with processes, plugins and their words: for moderators, administrators and the log.
    public var details: String
    /// The seconds until a retry may succeed.
    public var retryAfter: Double
    /// Whether it is this call alone that is refused, while the component answers others.
    public var isOfCall: Bool

    /// A failure; by default, of the component and not of one call.
    public init(
        component: String, reason: String, details: String, retryAfter: Double,
        isOfCall: Bool = false
    ) {
        self.component = component
        self.reason = reason
        self.details = details
        self.retryAfter = retryAfter
        self.isOfCall = isOfCall
    }
}

extension HostError {
    /// Whether the only problem is that a setting's credential can't be read.
    public var isOfSecretNotRead: Bool {
        guard case .settingInvalid(_, _, let reason) = self else { return false }
        return reason == SettingError.secretNotRead
    }
}

extension HostError {
    /// The error as a sentence that anybody may read.
    var plainSentence: String { sentence(hasDetails: false) }

    /// The error as a sentence; `hasDetails`: with how a component failed, for moderators, administrators and the log.
    func sentence(hasDetails: Bool) -> String {
        if !hasDetails, case .componentFailed(let failure) = self {
            failure.reason
        } else {
            sentence
        }
    }
}

/// Receives a call's outcome: called exactly once, on the event loop, during the call or later.
public typealias Reply<Success> = @Sendable (Result<Success, HostError>) -> Void

/// A ``Reply`` for callers that stay on the event loop.
public typealias Answer<Success> = (Result<Success, HostError>) -> Void
