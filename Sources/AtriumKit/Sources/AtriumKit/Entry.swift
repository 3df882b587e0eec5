/// The class that a plugin's library exports to the host, for components or delegates.
public final class PluginEntry {
    /// The purpose of an exported class.
    public enum Export: Sendable {
        /// A class of components.
        case component(any Component.Type)
        /// A class of delegates, for containers and scopes.
        case delegate(ContainerDelegate.Type)
    }

    /// The class.
    public let export: Export

    init(_ export: Export) { self.export = export }

    /// The kind of the components; nil for delegates, or for a class of none of the four kinds.
    public var kind: Kind? {
        guard case .component(let component) = export else { return nil }
        return switch component {
        case is any ContentListing.Type: .contents
        case is any Filtering.Type: .filters
        case is any Voting.Type: .votes
        case is any Commenting.Type: .comments
        default: nil
        }
    }
}

/// The kit's binary interface: its epoch and the compiler that set the layout.
///
/// A plugin's own ELF file references this symbol, so that the host can refuse a library of another
/// epoch before it is loaded.
@c(atriumkit_abi_2_swift6_3)
public func atriumKitEpoch() {}

/// The name of the symbol above: what a plugin's library must reference.
public let atriumKitEpochSymbol = "atriumkit_abi_2_swift6_3"

/// Exports a component class from a plugin's library.
///
/// A plugin has one such function, named `atrium_plugin_` and its identifier with every character
/// but letters and digits replaced by `_`:
///
/// ```swift
/// @c(atrium_plugin_org_atrium_stars)
/// public func entry() -> UnsafeMutableRawPointer { exportPlugin(Stars.self) }
/// ```
///
/// - Parameter component: the class.
/// - Returns: a retained ``PluginEntry`` for the host.
@_alwaysEmitIntoClient
public func exportPlugin<C: Component>(_ component: C.Type) -> UnsafeMutableRawPointer {
    // Emitted into the plugin, so that its file names the epoch that it was built against.
    atriumKitEpoch()
    return retainedPluginEntry(component)
}

/// Creates the entry; called only through ``exportPlugin(_:)``.
public func retainedPluginEntry(_ component: any Component.Type) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(PluginEntry(.component(component))).toOpaque()
}

/// Exports a delegate class from a plugin's library, whose manifest says `"kind": "delegate"`.
///
/// ```swift
/// @c(atrium_plugin_org_example_agenda)
/// public func entry() -> UnsafeMutableRawPointer { exportPlugin(Agenda.self) }
/// ```
///
/// - Parameter delegate: the class.
/// - Returns: a retained ``PluginEntry`` for the host.
@_alwaysEmitIntoClient
public func exportPlugin<D: ContainerDelegate>(_ delegate: D.Type) -> UnsafeMutableRawPointer {
    atriumKitEpoch()
    return retainedDelegateEntry(delegate)
}

/// Creates the entry; called only through `exportPlugin(_:)`.
public func retainedDelegateEntry(_ delegate: ContainerDelegate.Type) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(PluginEntry(.delegate(delegate))).toOpaque()
}
