/// What a delegate gets from its host: whose it is, its settings, and its log.
public final class DelegateContext {
    /// The container's name.
    public let container: String
    /// The scope that it is the delegate of; nil: the container.
    public let scope: String?
    /// Its settings, checked, defaults filled in.
    public let settings: Settings
    /// The fields of the container's items, in the definition's order.
    public let fields: [Field]
    /// Where it writes what an administrator should know.
    public let logger: ComponentLogger

    /// Made by a host.
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
