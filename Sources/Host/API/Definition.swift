public import AtriumKit
public import PluginLoader

/// A component as its container's definition declares it.
public struct ComponentDefinition: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// The identifier of the plugin that makes it; empty if ``container`` is set.
    public var plugin: String
    /// The title that people read; nil: the plugin's title, or the container's.
    public var title: String?
    /// Its settings, as the definition writes them.
    public var settings: [String: Value]
    /// Whether it runs in the daemon or in a worker; nil: the plugin's default.
    public var isolation: Isolation?
    /// How many seconds its worker may take for one call, and how long a call may wait in its queue.
    ///
    /// nil: the daemon's setting.
    public var callSeconds: Int?
    /// Whether screens leave it out.
    public var isHidden: Bool
    /// Whether screens leave it out while its list is empty; only contents components.
    public var hidesEmpty: Bool
    /// The text that people read in place of an empty list; only contents components.
    public var empty: String?
    /// How front ends show its items; nil: as the container's definition says; only contents components.
    public var present: Presentation?
    /// The default order of its list; only contents components.
    ///
    /// Field names, with `-` before them for descending order; empty: by id.
    public var sort: [String]
    /// The container that screens show as a part; nil: the component is made by a plugin.
    public var container: String?
    /// Sections of the part's container, each with the section of this container whose selection it follows.
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

    /// The credential files that secret settings refer to.
    static func secretFiles(_ settings: [String: Value]) -> [String] {
        settings.values.compactMap {
            if case .file(let path) = SecretReference($0) { path } else { nil }
        }
    }

    /// Whether the component is a container, not made by a plugin.
    public var isPart: Bool { container != nil }
}

/// How front ends show items: which field they show where.
public struct Presentation: Sendable, Hashable {
    /// The field with an item's title; nil: front ends show its id.
    public var title: String?
    /// The field that is shown below the title.
    public var subtitle: String?
    /// The field with the picture; its type is image.
    public var image: String?
    /// The other fields to show, in order, as in a table; nil: the front end chooses.
    public var columns: [String]?

    /// A presentation; by default it names no fields.
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
    /// Its settings, as the definition writes them.
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
    /// The title that people read; nil: the name.
    public var title: String?
    /// The items' fields, in order.
    public var fields: [Field]
    /// The components, in the screen's order.
    public var components: [ComponentDefinition]
    /// The lists that screens show at the top, inside an item and while searching; nil: all lists everywhere.
    ///
    /// A container with scopes has none; each scope has its own.
    public var lists: ListModes?
    /// The scopes, beginning with the one that screens open in; empty: the container has no scopes.
    public var scopes: [ScopeDefinition]
    /// The name under which an activated item is posted: `<container>.items.<activate>`.
    public var activate: String?
    /// The plugin that makes the delegate; nil: the default delegate.
    public var delegate: DelegateDefinition?
    /// How front ends show items of lists that have no presentation of their own.
    public var present: Presentation?
    /// The YAML text that it was read from.
    public var source: String?
    /// The kinds that refuse writes for now: votes, comments.
    ///
    /// Definition files can't set it; ``Container/setOpen(votes:comments:by:_:)`` does.
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

/// The result of applying one definition, or of a dry run of that.
public struct ApplyResult: Sendable, Hashable {
    /// A change of a container.
    public enum Action: String, Sendable, Hashable {
        /// It was created.
        case created
        /// It existed, and its definition changed.
        case changed
        /// It existed with the same definition.
        case unchanged
    }

    /// The container.
    public var container: String
    /// The change of the container.
    public var action: Action
    /// The changes, one line each.
    public var changes: [String]
    /// The ids of its sections of filters after the change, where it is rehearsed; nil: they are not known.
    public var sections: [String]?
}

/// A component as the registry shows it.
public struct ComponentStatus: Sendable, Hashable {
    /// Its state.
    public enum State: String, Sendable, Hashable {
        /// Its worker is starting.
        case starting
        /// It is part of its container, and its items are not known yet.
        case loading
        /// It is part of its container.
        case attached
        /// It could not be made; the reason says why.
        case failed
    }

    /// Its current definition.
    public var definition: ComponentDefinition
    /// Its kind; nil while its plugin is not loaded.
    public var kind: Kind?
    /// The title that people read.
    public var title: String
    /// Whether it runs in the daemon or in a worker.
    public var isolation: Isolation
    /// Its state.
    public var state: State
    /// Why it failed or is restarted; nil when it works.
    public var reason: String?
    /// How many items its list has; nil for other kinds.
    public var items: Int?
    /// Whether some of its records are unreadable or missing.
    public var isDamaged: Bool
    /// Which votes or comments it takes; nil for other kinds, and before its first start.
    public var facts: ComponentFacts?
    /// Its restarts; nil if it was never restarted.
    public var restarts: ComponentRestarts?
}

/// How often a component was restarted, and why.
public struct ComponentRestarts: Sendable, Hashable {
    /// Restarts since its first start.
    public var count = 0
    /// Restarts in a row, with no answered call in between.
    public var failures = 0
    /// How many of these followed a start that failed, and not the end of a component that ran.
    public var failedStarts = 0
    /// The cause of the last restart.
    public var cause: String
    /// When it will be restarted; nil: it runs.
    public var next: Timestamp?
    /// Calls that ended its worker, each with the time until which it is refused.
    public var refuses: [String] = []

    /// What happened in a row, as in "ended once and could not be started 5 times in a row".
    public var inARow: String {
        func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
        let ends = failures - failedStarts
        var parts = ends > 0 || failedStarts == 0 ? ["ended \(times(ends))"] : []
        if failedStarts > 0 { parts.append("could not be started \(times(failedStarts))") }
        return parts.joined(separator: " and ") + (max(ends, failedStarts) > 1 ? " in a row" : "")
    }

    /// What anybody may read of them: not how the component failed, nor whose calls are refused.
    var plain: ComponentRestarts {
        var plain = self
        plain.cause = "It failed: moderators and administrators see how."
        plain.refuses = []
        return plain
    }
}

/// A plugin's component that was restarted.
public struct PluginRestarts: Sendable, Hashable {
    /// The container's name.
    public var container: String
    /// The component's name.
    public var component: String
    /// Its restarts and their cause.
    public var restarts: ComponentRestarts
}

/// A container as the registry shows it.
public struct ContainerStatus: Sendable, Hashable {
    /// Its state.
    public enum State: String, Sendable, Hashable {
        /// Its records are being loaded, or a component is starting.
        case loading
        /// It answers calls.
        case ready
        /// It answers calls, except those to components that failed; the reason names them.
        case degraded
        /// It can't be loaded; the reason says why.
        case failed
    }

    /// Its current definition.
    public var definition: ContainerDefinition
    /// Its state.
    public var state: State
    /// Why it is degraded or failed.
    public var reason: String?
    /// How many items its lists have.
    public var items: Int
    /// Its components, in order.
    public var components: [ComponentStatus]
}
