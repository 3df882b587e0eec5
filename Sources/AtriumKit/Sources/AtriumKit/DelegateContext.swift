/// The names, settings and log that a delegate gets from its host.
public final class DelegateContext {
    /// The container's name.
    public let container: String
    /// The scope of the delegate; nil: it is the container's.
    public let scope: String?
    /// The checked settings, with defaults.
    public let settings: Settings
    /// The fields of the container's items, in the definition's order.
    public let fields: [Field]
    /// The log, for messages to administrators.
    public let logger: ComponentLogger

    /// Creates the context; called by a host.
    public init(
        container: String, scope: String?, settings: Settings, fields: [Field],
        log: @escaping (LogLevel, String) -> Void
    ) {
        self.container = container
        self.scope = scope
        self.settings = settings
        self.fields = fields
        logger = ComponentLogger(write: log)
    }
}
