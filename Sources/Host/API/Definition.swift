public import AtriumKit
public import PluginLoader

/// A component as its container's definition declares it.
public struct ComponentDefinition: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// The identifier of the plugin that makes it; empty: it is a container, as ``container`` says.
    public var plugin: String
    /// What people read; nil: the plugin's title, or the container's.
    public var title: String?
    /// Its settings as written.
    public var settings: [String: Value]
    /// Where it lives; nil: as the plugin's place says.
    public var isolation: Isolation?
    /// How many seconds its worker may take for one call, and a call may wait behind others; nil: as the daemon's
    /// settings say.
    public var callSeconds: Int?
    /// Whether screens leave it out.
    public var isHidden: Bool
    /// Whether screens leave it out on which its list has nothing; contents components alone.
    public var hidesEmpty: Bool
    /// What people read in place of a list that has nothing; contents components alone.
    public var empty: String?
    /// How front ends show its items; nil: as the container's says; contents components alone.
    public var present: Presentation?
    /// What its list is ordered by where nobody asks for another order; contents components alone.
    ///
    /// Field names, `-` before for descending; empty: by id.
    public var sort: [String]
    /// The container that screens show as a part of theirs; nil: a plugin makes it.
    public var container: String?
    /// The sections of that container, each with the one of this container whose selection it follows.
    public var follow: [String: String]

    /// A component.
    public init(
        name: String, plugin: String, title: String? = nil, settings: [String: Value] = [:],
        isolation: Isolation? = nil, callSeconds: Int? = nil, isHidden: Bool = false,
        hidesEmpty: Bool = false,
        empty: String? = nil, present: Presentation? = nil, sort: [String] = [],
        container: String? = nil, follow: [String: String] = [:]
    ) {
        self.name = name
        self.plugin = plugin
        self.title = title
        self.settings = settings
        self.isolation = isolation
        self.callSeconds = callSeconds
        self.isHidden = isHidden
        self.hidesEmpty = hidesEmpty
        self.empty = empty
        self.present = present
        self.sort = sort
        self.container = container
        self.follow = follow
    }

    /// A container as a part of another's screens.
    public init(
        name: String, container: String, title: String? = nil, follow: [String: String] = [:],
        isHidden: Bool = false, hidesEmpty: Bool = false
    ) {
        self.init(
            name: name, plugin: "", title: title, isHidden: isHidden, hidesEmpty: hidesEmpty,
            container: container, follow: follow)
    }

    /// The files that secret settings among some refer to.
    static func secretFiles(_ settings: [String: Value]) -> [String] {
        settings.values.compactMap {
            if case .file(let path) = SecretReference($0) { path } else { nil }
        }
    }

    /// Whether it is a container, and no plugin makes it.
    public var isPart: Bool { container != nil }
}

/// How front ends show items, in the names of their fields.
public struct Presentation: Sendable, Hashable {
    /// What an item is called; nil: its id.
    public var title: String?
    /// What stands below.
    public var subtitle: String?
    /// Its picture: a field of the type image.
    public var image: String?
    /// What else is shown of it, in order, as in a table; nil: that is the front end's choice.
    public var columns: [String]?

    /// A presentation; by default it says nothing.
    public init(
        title: String? = nil, subtitle: String? = nil, image: String? = nil,
        columns: [String]? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.image = image
        self.columns = columns
    }
}

/// Which plugin makes the delegate of a container, or of one of its scopes.
public struct DelegateDefinition: Sendable, Hashable {
    /// The plugin's identifier.
    public var plugin: String
    /// Its settings as written.
    public var settings: [String: Value]

    /// A delegate.
    public init(plugin: String, settings: [String: Value] = [:]) {
        self.plugin = plugin
        self.settings = settings
    }
}

/// A container as its file defines it.
public struct ContainerDefinition: Sendable, Hashable {
    /// Its name: `[a-z][a-z0-9-]{0,62}`.
    public var name: String
    /// What people read; nil: the name.
    public var title: String?
    /// The items' fields, in order.
    public var fields: [Field]
    /// The components, in the screen's order.
    public var components: [ComponentDefinition]
    /// Which lists screens show where; nil: all of them, everywhere.
    ///
    /// A container with scopes has none: each scope has its own.
    public var lists: ListModes?
    /// The scopes, the one that screens open in first; empty: there is nothing to choose.
    public var scopes: [ScopeDefinition]
    /// The name under which an activated item is posted: `<container>.items.<activate>`.
    public var activate: String?
    /// Who makes the delegate; nil: the default wiring.
    public var delegate: DelegateDefinition?
    /// How front ends show items, of lists that don't say it themselves.
    public var present: Presentation?
    /// The YAML text that it was read from.
    public var source: String?
    /// What it takes none of for now: votes, comments.
    ///
    /// No file says it: ``Container/setOpen(votes:comments:by:_:)`` does.
    public var closed: Set<Kind> = []

    /// A definition.
    public init(
        name: String, title: String? = nil, fields: [Field] = [],
        components: [ComponentDefinition] = [], lists: ListModes? = nil,
        scopes: [ScopeDefinition] = [], activate: String? = nil,
        delegate: DelegateDefinition? = nil, present: Presentation? = nil, source: String? = nil
    ) {
        self.name = name
        self.title = title
        self.fields = fields
        self.components = components
        self.lists = lists
        self.scopes = scopes
        self.activate = activate
        self.delegate = delegate
        self.present = present
        self.source = source
    }
}

/// What applying one definition did, or would do.
public struct ApplyResult: Sendable, Hashable {
    /// What became of the container.
    public enum Action: String, Sendable, Hashable {
        /// It is new.
        case created
        /// It was there, and changed.
        case changed
        /// It was there just so.
        case unchanged
    }

    /// The container.
    public var container: String
    /// What became of it.
    public var action: Action
    /// What changed, a line each.
    public var changes: [String]
}

/// A component as the registry shows it.
public struct ComponentStatus: Sendable, Hashable {
    /// How it does.
    public enum State: String, Sendable, Hashable {
        /// Its worker is being started.
        case starting
        /// It is part of its container, and is yet to find out what items it has.
        case loading
        /// It is part of its container.
        case attached
        /// It could not be made; the reason says why.
        case failed
    }

    /// Its definition as it stands.
    public var definition: ComponentDefinition
    /// What it does; nil while its plugin is not there.
    public var kind: Kind?
    /// What people read.
    public var title: String
    /// Where it lives.
    public var isolation: Isolation
    /// How it does.
    public var state: State
    /// Why it does not.
    public var reason: String?
    /// How many items its list has; nil for other kinds.
    public var items: Int?
    /// Whether some of its records can't be read, or are gone.
    public var isDamaged: Bool
    /// Which votes or comments it takes; nil for other kinds, and until it was made once.
    public var facts: ComponentFacts?
    /// How often it was started again; nil: never.
    public var restarts: ComponentRestarts?
}

/// How often a component was started again, and why.
public struct ComponentRestarts: Sendable, Hashable {
    /// How often, since it was made for the first time.
    public var count = 0
    /// How often in a row, without a call that was answered in between.
    public var failures = 0
    /// Why, the last time.
    public var cause: String
    /// When it is started again; nil: it is there.
    public var next: Timestamp?
    /// Calls at which its worker ended, and until when each is refused.
    public var refuses: [String] = []
}

/// A component of a plugin that was started again.
public struct PluginRestarts: Sendable, Hashable {
    /// The container's name.
    public var container: String
    /// The component's name.
    public var component: String
    /// How often, and why.
    public var restarts: ComponentRestarts
}

/// A container as the registry shows it.
public struct ContainerStatus: Sendable, Hashable {
    /// How it does.
    public enum State: String, Sendable, Hashable {
        /// Its records are being read, or a component is starting.
        case loading
        /// It answers.
        case ready
        /// It answers, but for components that failed; the reason names them and says why.
        case degraded
        /// It can't be loaded; the reason says why.
        case failed
    }

    /// Its definition as it stands.
    public var definition: ContainerDefinition
    /// How it does.
    public var state: State
    /// Why it does not.
    public var reason: String?
    /// How many items its lists have.
    public var items: Int
    /// Its components, in order.
    public var components: [ComponentStatus]
}
