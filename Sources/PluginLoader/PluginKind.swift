public import AtriumKit

/// What a plugin makes.
public enum PluginKind: RawRepresentable, Sendable, Hashable {
    /// Components of this kind.
    case component(Kind)
    /// Delegates of containers and of their scopes: they live in the daemon.
    case delegate

    /// The kind that a manifest means by a word; nil: there is none.
    public init?(rawValue: String) {
        guard rawValue != "delegate" else {
            self = .delegate
            return
        }
        guard let kind = Kind(rawValue: rawValue) else { return nil }
        self = .component(kind)
    }

    /// The word in a manifest: `contents`, `filters`, `votes`, `comments` or `delegate`.
    public var rawValue: String {
        switch self {
        case .component(let kind): kind.rawValue
        case .delegate: "delegate"
        }
    }

    /// All there are.
    public static var all: [PluginKind] { Kind.allCases.map { .component($0) } + [.delegate] }
}
