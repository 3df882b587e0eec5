public import AtriumKit

/// A plugin that components can be made of.
public struct Plugin: Sendable {
    /// Its identifier, as `org.atrium.stars`.
    public var id: String
    /// Its version.
    public var version: String
    /// What its components do.
    public var kind: Kind
    /// What people read.
    public var title: String
    /// What it is for.
    public var description: String
    /// Its library or its program.
    public var code: PluginCode
    /// Where its components live unless their definition says otherwise.
    public var isolation: Isolation
    /// The settings that name files and folders: what a component in a worker may read beside its
    /// plugin's own folder.
    public var paths: [String]
    /// The class of its components; nil while the library is not loaded into this process.
    public var component: (any Component.Type)?
    /// How long a worker may take for a call unless the component's definition says otherwise, in seconds; nil: as for all.
    public var callSeconds: Int?
    /// The code that its workers run; nil: what is at the path.
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

    /// As ``init(id:version:kind:title:description:code:isolation:paths:component:)``, of a library.
    public init(
        id: String, version: String, kind: Kind, title: String, description: String = "",
        library: String, isolation: Isolation = .daemon, paths: [String] = [],
        component: (any Component.Type)? = nil
    ) {
        self.init(
            id: id, version: version, kind: kind, title: title, description: description,
            code: .library(library), isolation: isolation, paths: paths, component: component)
    }

    /// Where its library or its program is.
    public var path: String { code.path }

    /// The settings that its components take; nil while the library is not loaded here.
    public var settings: [Setting]? { component?.settings }
}
