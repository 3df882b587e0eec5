public import AtriumKit

/// A plugin that delegates of containers and of their scopes can be made of; they live in the daemon.
public struct DelegatePlugin: Sendable {
    /// Its identifier, as `org.example.agenda`.
    public var id: String
    /// The class of its delegates.
    public var delegate: ContainerDelegate.Type

    /// A plugin whose class is there.
    public init(id: String, delegate: ContainerDelegate.Type) {
        self.id = id
        self.delegate = delegate
    }

    /// The settings that its delegates take.
    public var settings: [Setting] { delegate.settings }
}
