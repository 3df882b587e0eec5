import AtriumKit

/// An expected failure of a call; each case names what it is about.
public enum HostError: Error, Sendable, Hashable {
    /// No container of this name.
    case containerNotFound(String)
    /// No such component, or none of the kind that the call needs (then the kind's name).
    case componentNotFound(container: String, component: String)
    /// The name is taken in this container.
    case componentExists(container: String, component: String)
    /// No plugin of this identifier is loaded.
    case pluginNotFound(String, known: [String])
    /// A setting that the component refuses.
    case settingInvalid(component: String, setting: String, reason: String)
    /// A definition that can't be applied, for a reason that concerns no single component.
    case definitionInvalid(container: String, reason: String)
    /// Existing items do not fit a field's new declaration; at most ten are named.
    case itemsUnfit(container: String, field: String, reason: String, items: [String])
    /// A record that can't be put back.
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
    /// The comment's id is taken by another content or actor, or its text is another than a moderator saw.
    case conflict(comment: String, reason: String)
    /// A component, or the delegate of its container, refuses. Seconds until it may accept.
    case refused(reason: String, retryAfter: Double?)
    /// The container takes no votes, or no comments, until a moderator opens it.
    case closed(container: String, reason: String)
    /// A cursor that this listing did not give out.
    case cursorInvalid(String)
    /// A limit is exceeded: its name and value. Seconds until the same call may succeed.
    case limitExceeded(limit: String, value: Int, retryAfter: Double?)
    /// A parameter has the right type and an invalid value.
    case parameterInvalid(parameter: String, reason: String)
    /// A topic or a pattern is invalid, or clients may not publish under it.
    case topicInvalid(topic: String, reason: String)
    /// No such screen, or another user's.
    case screenNotFound(String)
    /// The store can't be read or written now, or the host is stopping; nothing was written. Seconds until the
    /// same may succeed; nil: the store is damaged.
    case storeUnavailable(reason: String, retryAfter: Double?)
    /// The file system has no room for a file beside the store: bytes needed, and bytes free.
    case noSpace(path: String, needed: Int, free: Int)
    /// The component's worker does not run. Seconds until it may.
    case componentUnavailable(component: String, reason: String, retryAfter: Double)
}

extension HostError {
    /// Whether a setting refers to a credential that can't be read, and nothing else is wrong.
    public var isOfSecretNotRead: Bool {
        guard case .settingInvalid(_, _, let reason) = self else { return false }
        return reason == SettingError.secretNotRead
    }
}

/// What a call's outcome is passed to: called exactly once, on the event loop, during the call or later.
public typealias Reply<Success> = @Sendable (Result<Success, HostError>) -> Void

/// As ``Reply``, for callers that are on the event loop and stay there.
public typealias Answer<Success> = (Result<Success, HostError>) -> Void
