public import AtriumKit
public import PluginLoader

/// Everything that a launcher needs to make a component.
public struct LaunchRequest: Sendable {
    /// The plugin that makes it.
    public var plugin: Plugin
    /// The container's name.
    public var container: String
    /// The component's name in the container.
    public var component: String
    /// Its settings as the definition has them.
    public var settings: [String: Value]
    /// The texts of its secret settings, by setting.
    public var secrets: [String: String]
    /// The container's fields, in order.
    public var fields: [Field]
    /// The limits that apply to it.
    public var limits: HostLimits
    /// The files and folders that its settings name, which it may read in a worker; without symbolic links.
    public var readable: [String] = []
    /// The setting that limits a call's time, as messages name it.
    public var callSetting = "limits.callSeconds"
    /// The bytes that its predecessor kept; nil: none.
    public var kept: [UInt8]?

    /// Makes a request; by default the limits are the documented ones.
    public init(
        plugin: Plugin, container: String, component: String, settings: [String: Value],
        secrets: [String: String] = [:], fields: [Field], limits: HostLimits = HostLimits()
    ) {
        self.plugin = plugin
        self.container = container
        self.component = component
        self.settings = settings
        self.secrets = secrets
        self.fields = fields
        self.limits = limits
        kept = nil
    }
}

/// Why a component could not be made.
public enum LaunchFailure: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// A setting is invalid: a retry won't help.
    case setting(SettingError)
    /// Its plugin can't be loaded, or its class refuses: a retry won't help.
    case failed(reason: String)
    /// Its worker could not be started, or ended at once: a retry may help.
    case unavailable(reason: String)

    /// The reason, in words.
    public var description: String {
        switch self {
        case .setting(let error): error.description
        case .failed(let reason), .unavailable(let reason): reason
        }
    }
}

/// Makes components, in the daemon or each in a worker.
public protocol ComponentLauncher {
    /// Makes a component that is yet to be loaded; `done` is called once on the event loop, unless the launch is
    /// cancelled by the returned closure before; the owner is held weakly.
    @discardableResult
    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation

    /// Finds out which settings a plugin's components take, without making one; `done` is called once on the event
    /// loop, during the call or later.
    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    )
}

/// Cancels a launch; call it on the event loop.
public typealias LaunchCancellation = () -> Void
