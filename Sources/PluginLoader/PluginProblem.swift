/// Why no components can be made of a plugin.
public enum PluginProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its library was not loaded.
    case refused(String)
    /// Its library broke while it was loaded.
    case failed(String)

    /// Why, in words: what is wrong, with which file, and what to do.
    public var reason: String {
        switch self {
        case .refused(let reason), .failed(let reason): reason
        }
    }

    /// The reason.
    public var description: String { reason }
}
