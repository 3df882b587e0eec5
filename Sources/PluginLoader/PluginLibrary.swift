public import AtriumKit
internal import Glibc

/// All plugins that were found, with the state of each.
///
/// A value, made once by scanning directories.
public struct PluginLibrary: Sendable {
    /// A directory to look in.
    public struct Directory: Sendable, Hashable {
        /// Its path.
        public var path: String
        /// Whether components of its plugins live in the daemon by default.
        public var isTrusted: Bool

        /// A directory; by default its plugins are isolated.
        public init(_ path: String, isTrusted: Bool = false) {
            // A worker runs a program in its plugin's folder, where a relative path would lead elsewhere.
            self.path = Self.absolute(path)
            self.isTrusted = isTrusted
        }

        private static func absolute(_ path: String) -> String {
            guard !path.hasPrefix("/"), let present = getcwd(nil, 0) else { return path }
            defer { free(present) }
            let folder = String(cString: present)
            return path == "." ? folder : "\(folder)/\(path)"
        }
    }

    /// The plugins that were found, in the order of directories, then of paths.
    public let plugins: [PluginStatus]
    /// The problems of directories that exist and can't be read, or must not be scanned, a sentence each.
    public let problems: [String]

    /// The directories that were scanned; nil: the plugins were passed in.
    let source: Source?

    /// The directories that are scanned, and which of their plugins count.
    struct Source: Sendable {
        let directories: [Directory]
        let owners: Set<UInt32>?
        let delegates: Set<String>
    }

    private let loaded: [String: Plugin]
    private let delegates: [String: DelegatePlugin]

    /// Scans directories, earlier ones first, and loads the plugins that belong into the daemon.
    ///
    /// A plugin is a `manifest.json` in the directory itself or in a folder of it, and the library or the program that
    /// it names. A plugin that can't be used has a state and a reason, and does not keep others from being loaded. Of
    /// several plugins with the same id the newest version counts, then the earliest directory. A directory that does
    /// not exist is skipped. A directory or folder that other users may write to is skipped too, because they would
    /// decide what runs here. The ids of plugins in trusted directories can't be taken by others.
    ///
    /// - Parameters:
    ///   - directories: the directories to scan.
    ///   - owners: the users whose folders and files count, beside root's; nil, the default: everyone's.
    ///   - delegates: the ids of plugins from other than trusted directories that may make delegates, which live in the
    ///     daemon; other plugins of this kind are refused.
    public init(
        scanning directories: [Directory], owners: Set<UInt32>? = nil, delegates: Set<String> = []
    ) {
        var scan = PluginScan(owners: owners, delegates: delegates)
        for directory in directories { scan.findPlugins(in: directory) }
        self.init(
            scan.resolved(), problems: scan.problems,
            source: Source(directories: directories, owners: owners, delegates: delegates))
    }

    /// Creates a library of plugins whose classes are loaded already.
    public init(_ plugins: [Plugin], delegates: [DelegatePlugin] = []) {
        self.init(
            plugins.map(PluginStatus.init(loaded:)) + delegates.map(PluginStatus.init(loaded:)),
            problems: [], source: nil)
    }

    /// A library of these plugins.
    init(_ plugins: [PluginStatus], problems: [String], source: Source?) {
        self.plugins = plugins
        self.problems = problems
        self.source = source
        loaded = Dictionary(plugins.compactMap(\.plugin).map { ($0.id, $0) }) { first, _ in first }
        delegates = Dictionary(plugins.compactMap(\.delegate).map { ($0.id, $0) }) { first, _ in
            first
        }
    }

    /// The plugin of this id that components can be made of.
    public func plugin(_ id: String) -> Plugin? { loaded[id] }

    /// The plugin of this id that delegates can be made of.
    public func delegate(_ id: String) -> DelegatePlugin? { delegates[id] }

    /// The ids of all plugins that delegates can be made of, sorted.
    public var delegateIdentifiers: [String] { delegates.keys.sorted() }

    /// The ids of all plugins that components can be made of, sorted.
    public var identifiers: [String] { loaded.keys.sorted() }
}

/// A plugin that was found, with its state.
public struct PluginStatus: Sendable {
    /// The state of a plugin.
    public enum State: String, Sendable, Hashable {
        /// Its manifest was read.
        case found
        /// It was never loaded; the reason names the cause.
        case refused
        /// Components can be made of it.
        case loaded
        /// Loading failed; the reason is in the status.
        case failed
        /// Another copy with the same id is used; the reason names it.
        case superseded
    }

    /// Its identifier; the folder's name where the manifest can't be read.
    public var id: String
    /// Its version; empty where the manifest can't be read.
    public var version: String
    /// The kind of what it makes; nil if the manifest can't be read.
    public var kind: PluginKind?
    /// The title that people see; empty if the manifest can't be read.
    public var title: String
    /// The description of its purpose.
    public var description: String
    /// The state of the plugin.
    public var state: State
    /// The reason for its state, for people; nil if it is loaded.
    public var reason: String?
    /// The path of its library or its program, or of its manifest where that can't be read.
    public var path: String
    /// The path of its manifest; empty for one that was given.
    public var manifest = ""
    /// Whether ``path`` is that of a program.
    public var isProgram = false
    /// The process in which its components live, unless their definition names another.
    public var isolation: Isolation
    /// The settings that name the paths that its components may read.
    public var paths: [String] = []
    /// The time that a worker may take for a call, in seconds, unless the component's definition sets another; nil: the
    /// daemon's limit.
    public var callSeconds: Int?
    /// The plugin that components are made of; nil unless the state is `loaded`, and for a plugin that makes delegates.
    public var plugin: Plugin?
    /// The plugin that delegates are made of; nil unless the state is `loaded`, and for a plugin that makes components.
    public var delegate: DelegatePlugin?

    /// The settings that its components or delegates take; nil while the library is not loaded here.
    public var settings: [Setting]? { plugin?.settings ?? delegate?.settings }
}

/// The reason why a plugin can't be used.
public enum PluginProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its library was not loaded.
    case refused(String)
    /// Its library broke while it was loaded.
    case failed(String)

    /// A sentence with the file, the problem, and what to do.
    public var reason: String {
        switch self {
        case .refused(let reason), .failed(let reason): reason
        }
    }

    /// The reason.
    public var description: String { reason }
}
