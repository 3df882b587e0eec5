public import AtriumKit

/// A plugin that components can be made of.
public struct Plugin: Sendable {
    /// Its identifier, as `org.atrium.stars`.
    public var id: String
    /// Its version.
    public var version: String
    /// The kind of its components.
    public var kind: Kind
    /// The title that people see.
    public var title: String
    /// The description of its purpose.
    public var description: String
    /// Its library or its program.
    public var code: PluginCode
    /// The process in which its components live, unless their definition names another.
    public var isolation: Isolation
    /// The settings that name files and folders which a component in a worker may read beside its plugin's own folder.
    public var paths: [String]
    /// The class of its components; nil while the library is not loaded into this process.
    public var component: (any Component.Type)?
    /// The time that a worker may take for a call, in seconds, unless the component's definition sets another; nil: the
    /// daemon's limit.
    public var callSeconds: Int?
    /// The code that its workers run; nil: any code at the path.
    public var held: HeldCode?
    /// Whether it came with the daemon: its components hold values alone, which any thread may free.
    public var isShipped = false

    /// A plugin; by default one that lives in the daemon.
    public init(
        id: String, version: String, kind: Kind, title: String, description: String = "",
        code: PluginCode, isolation: Isolation = .daemon, paths: [String] = [],
        component: (any Component.Type)? = nil
    ) {
        self.id = id
        self.version = version
        self.kind = kind
        self.title = title
        self.description = description
        self.code = code
        self.isolation = isolation
        self.paths = paths
        self.component = component
    }

    /// Does the same as ``init(id:version:kind:title:description:code:isolation:paths:component:)``, for a library.
    public init(
        id: String, version: String, kind: Kind, title: String, description: String = "",
        library: String, isolation: Isolation = .daemon, paths: [String] = [],
        component: (any Component.Type)? = nil
    ) {
        self.init(
            id: id, version: version, kind: kind, title: title, description: description,
            code: .library(library), isolation: isolation, paths: paths, component: component)
    }

    /// The path of its library or its program.
    public var path: String { code.path }

    /// The settings that its components take; nil while the library is not loaded here.
    public var settings: [Setting]? { component?.settings }
}

/// The kind of what a plugin makes: components of a kind, or delegates.
public enum PluginKind: RawRepresentable, Sendable, Hashable {
    /// Components of this kind.
    case component(Kind)
    /// Delegates of containers and of their scopes: they live in the daemon.
    case delegate

    /// Reads the kind from its word in a manifest; nil: there is no such kind.
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

/// The code of a plugin: a library or a program.
public enum PluginCode: Sendable, Hashable {
    /// A library that has their class, at a path: loaded into the daemon or into a worker.
    case library(String)
    /// A program at a path, which a worker starts and calls: it may be written in any language.
    case program(String)

    /// The path of the library or program.
    public var path: String {
        switch self {
        case .library(let path), .program(let path): path
        }
    }

    /// The code at its path from a folder.
    func inside(_ folder: String) -> PluginCode {
        switch self {
        case .library(let path): .library("\(folder)/\(path)")
        case .program(let path): .program("\(folder)/\(path)")
        }
    }
}

/// The process in which a component lives.
public enum Isolation: String, Sendable, Hashable, CaseIterable {
    /// The daemon's own process.
    case daemon
    /// A worker process of its own.
    case process
}

/// A plugin that delegates of containers and of their scopes can be made of; they live in the daemon.
public struct DelegatePlugin: Sendable {
    /// Its identifier, as `org.example.agenda`.
    public var id: String
    /// The class of its delegates.
    public var delegate: ContainerDelegate.Type

    /// Creates a plugin whose class is loaded already.
    public init(id: String, delegate: ContainerDelegate.Type) {
        self.id = id
        self.delegate = delegate
    }

    /// The settings that its delegates take.
    public var settings: [Setting] { delegate.settings }
}
