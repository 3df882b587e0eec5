public import AtriumKit

/// A plugin that was found, and what became of it.
public struct PluginStatus: Sendable {
    /// What became of a plugin.
    public enum State: String, Sendable, Hashable {
        /// Its manifest was read.
        case found
        /// It was never loaded; the reason says why.
        case refused
        /// Components can be made of it.
        case loaded
        /// It broke while loading; the reason says how.
        case failed
        /// It gave way to another copy of the same id; the reason says to which.
        case superseded
    }

    /// Its identifier; the folder's name where the manifest can't be read.
    public var id: String
    /// Its version; empty where the manifest can't be read.
    public var version: String
    /// What it makes; nil where the manifest can't be read.
    public var kind: PluginKind?
    /// What people read; empty where the manifest can't be read.
    public var title: String
    /// What it is for.
    public var description: String
    /// What became of it.
    public var state: State
    /// Why, in words; nil when it is loaded.
    public var reason: String?
    /// The path of its library or its program, or of its manifest where that can't be read.
    public var path: String
    /// The path of its manifest; empty for one that was given.
    public var manifest = ""
    /// Whether ``path`` is that of a program.
    public var isProgram = false
    /// Where its components live unless their definition says otherwise.
    public var isolation: Isolation
    /// The settings that name what its components may read.
    public var paths: [String] = []
    /// How long a worker may take for a call unless the component's definition says otherwise, in seconds; nil: as for all.
    public var callSeconds: Int?
    /// What components are made of; nil unless the state is `loaded`, and for a plugin that makes delegates.
    public var plugin: Plugin?
    /// What delegates are made of; nil unless the state is `loaded`, and for a plugin that makes components.
    public var delegate: DelegatePlugin?

    /// The settings that its components or delegates take; nil while the library is not loaded here.
    public var settings: [Setting]? { plugin?.settings ?? delegate?.settings }
}
