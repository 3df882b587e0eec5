public import AtriumKit
public import PluginLoader

/// What a component is made of.
public struct LaunchRequest: Sendable {
    /// The plugin that makes it.
    public var plugin: Plugin
    /// The container's name.
    public var container: String
    /// The component's name in it.
    public var component: String
    /// Its settings as the definition gives them.
    public var settings: [String: Value]
    /// The texts that its secret settings refer to, by setting.
    public var secrets: [String: String]
    /// The container's fields, in order.
    public var fields: [Field]
    /// What it is held to.
    public var limits: HostLimits
    /// The files and folders that it may read in a worker, since its settings name them; without links.
    public var readable: [String] = []
    /// Where it is set how long a call may take, as messages name it.
    public var callSetting = "limits.callSeconds"
    /// What its predecessor had kept; nil: nothing.
    public var kept: [UInt8]?

    /// A request; by default the limits are the documented ones.
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
public enum LaunchFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A setting makes no sense: trying again won't help.
    case setting(SettingError)
    /// Its plugin can't be loaded or its class refuses: trying again won't help.
    case failed(reason: String)
    /// Its worker could not be started or ended at once: trying again may help.
    case unavailable(reason: String)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .setting(let error): error.description
        case .failed(let reason), .unavailable(let reason): reason
        }
    }
}

/// Makes components: in the daemon, or each in a worker.
public protocol ComponentLauncher {
    /// Makes a component.
    ///
    /// - Parameters:
    ///   - request: what it is made of.
    ///   - owner: told what the component does by itself; held weakly.
    ///   - done: called once on the event loop, with a component that is yet to be loaded.
    /// - Returns: gives the component up, unless it is made already: then `done` is not called.
    @discardableResult
    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation
}

/// Gives a component up that is being made; to be called on the event loop.
public typealias LaunchCancellation = () -> Void
