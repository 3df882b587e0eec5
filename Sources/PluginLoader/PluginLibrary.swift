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

/// A scan of plugin folders, with everything that was found so far, in order.
struct PluginScan {
    private(set) var problems: [String] = []
    private let trust: PathTrust?
    private let delegates: Set<String>

    /// A plugin that was found, and may give way to another of its id.
    private struct Candidate {
        var status: PluginStatus
        let manifest: PluginManifest?
        /// Whether it came with the daemon.
        let isShipped: Bool
    }

    private var candidates: [Candidate] = []

    /// Creates a scan that has found nothing yet.
    ///
    /// - Parameters:
    ///   - owners: the users whose folders and files count, beside root's; nil: everyone's.
    ///   - delegates: the ids of plugins that may make delegates although they are not shipped with the daemon.
    init(owners: Set<UInt32>?, delegates: Set<String>) {
        trust = owners.map { PathTrust(owners: $0) }
        self.delegates = delegates
    }

    /// Finds the plugins in a directory, and probes them.
    mutating func findPlugins(in directory: PluginLibrary.Directory) {
        let path = directory.path
        if let problem = trust?.problem(with: path) {
            problems.append("The plugin directory \(path) is not looked into: \(problem).")
            return
        }
        for manifest in manifests(in: path) {
            candidates.append(candidate(manifest, isShipped: directory.isTrusted))
        }
    }

    /// Decides which copy of each id counts, and loads the plugins that belong into the daemon.
    mutating func resolved() -> [PluginStatus] {
        refuseTakenIdentifiers()
        let found = candidates.indices.filter { candidates[$0].status.state == .found }
        for id in Set(found.map { candidates[$0].status.id }).sorted() {
            resolve(found.filter { candidates[$0].status.id == id })
        }
        return candidates.map(\.status)
    }

    /// Decides which copy of one id counts, and loads it for workers.
    ///
    /// - Parameters:
    ///   - id: the plugin's identifier.
    ///   - known: the paths of its manifests at the scan before.
    /// - Returns: all copies of the plugin, one of which is loaded.
    /// - Throws: `PluginProblem` if no copy can be loaded, or if one belongs into the daemon.
    mutating func resolved(_ id: String, known: [String]) throws(PluginProblem) -> [PluginStatus] {
        refuseTakenIdentifiers()
        let copies = candidates.indices.filter {
            candidates[$0].status.id == id || known.contains(candidates[$0].status.manifest)
        }
        let found = copies.filter {
            candidates[$0].status.id == id && candidates[$0].status.state == .found
        }
        if found.contains(where: { candidates[$0].status.isolation == .daemon }) {
            throw .refused(
                "The plugin \(id) lives in the daemon, which can't unload it: restart the daemon.")
        }
        resolve(found)
        let all = copies.map { candidates[$0].status }
        if all.contains(where: { $0.state == .loaded }) { return all.filter { $0.id == id } }
        if let reason = all.compactMap(\.reason).first { throw .refused(reason) }
        if let other = all.first {
            throw .refused("\(other.manifest) is the manifest of '\(other.id)' now.")
        }
        let places = known.isEmpty ? "" : ": no manifest is at \(known.joined(separator: ", "))"
        throw .refused(
            (["There is no plugin \(id) on the disk\(places)."] + problems)
                .joined(separator: " "))
    }

    /// Refuses a plugin whose id belongs to a shipped one, and that is not shipped itself.
    ///
    /// A definition whose components run in the daemon means the shipped plugin.
    private mutating func refuseTakenIdentifiers() {
        let shipped = Dictionary(
            candidates.filter(\.isShipped).map { ($0.status.id, $0.status.path) }
        ) { first, _ in first }
        for index in candidates.indices where candidates[index].status.state == .found {
            guard !candidates[index].isShipped, let path = shipped[candidates[index].status.id]
            else { continue }
            candidates[index].status.end(
                with: .refused(
                    "The id '\(candidates[index].status.id)' is that of a plugin that came with the "
                        + "daemon, at \(path): give this one an id of its own."))
        }
    }

    /// Chooses among the copies of one id: the newest that can be loaded counts.
    private mutating func resolve(_ copies: [Int]) {
        let ordered = copies.sorted { one, other in
            guard let mine = candidates[one].manifest, let theirs = candidates[other].manifest
            else { return one < other }
            return mine.order == theirs.order ? one < other : mine.order > theirs.order
        }
        var winner: PluginStatus?
        for index in ordered {
            if let winner {
                candidates[index].status.giveWay(to: winner)
            } else {
                candidates[index].status.load()
                let status = candidates[index].status
                winner = status.state == .loaded ? status : nil
            }
        }
    }

    private func candidate(_ path: String, isShipped: Bool) -> Candidate {
        let folder = String(path.dropLast("/manifest.json".count))
        do throws(PluginProblem) {
            try check(path)
            let manifest = try PluginManifest(path)
            // Its `should…` methods return a value: no worker can be waited for.
            var isInDaemon = isShipped || manifest.kind == .delegate
            if case .program = manifest.code { isInDaemon = false }
            var status = PluginStatus(
                manifest, in: folder,
                isolation: manifest.isolation ?? (isInDaemon ? .daemon : .process))
            do throws(PluginProblem) {
                try check(status.path)
                try checkMayDelegate(manifest, isShipped: isShipped)
                switch manifest.code {
                case .library: try PluginLoading.probe(status.path, id: status.id)
                case .program: try PluginProgram.probe(status.path)
                }
            } catch {
                status.end(with: error)
            }
            return Candidate(status: status, manifest: manifest, isShipped: isShipped)
        } catch {
            let name = folder.split(separator: "/").last.map(String.init) ?? folder
            var status = PluginStatus(
                unreadable: name, path: path, isolation: isShipped ? .daemon : .process)
            status.end(with: error)
            return Candidate(status: status, manifest: nil, isShipped: isShipped)
        }
    }

    /// Refuses a delegate's plugin that did not come with the daemon, unless the administrator named it.
    private func checkMayDelegate(
        _ manifest: PluginManifest, isShipped: Bool
    ) throws(PluginProblem) {
        guard manifest.kind == .delegate, !isShipped, !delegates.contains(manifest.id) else {
            return
        }
        throw .refused(
            "A delegate runs in the daemon, and this one did not come with it: write its id under "
                + "'delegates' in atrium.yaml, as in 'delegates: [\(manifest.id)]', if it may.")
    }

    private func check(_ path: String) throws(PluginProblem) {
        // A device is no file whose mode should be changed.
        var info = stat()
        guard stat(path, &info) != 0 || info.st_mode & S_IFMT == S_IFREG else {
            throw .refused("\(path) is no regular file.")
        }
        if let problem = trust?.problem(with: path) { throw .refused("\(problem).") }
    }

    /// The paths of manifests in the directory itself and in its folders, sorted.
    private mutating func manifests(in directory: String) -> [String] {
        guard let names = FolderNames.visible(in: directory) else {
            if errno != ENOENT {
                problems.append(
                    "The plugin directory \(directory) can't be read: "
                        + String(cString: strerror(errno)) + ".")
            }
            return []
        }
        let folders = names.map { "\(directory)/\($0)" }
        return ([directory] + folders).map { "\($0)/manifest.json" }.filter { path in
            access(path, F_OK) == 0
        }
    }
}

extension PluginStatus {
    fileprivate init(_ manifest: PluginManifest, in folder: String, isolation: Isolation) {
        self.init(
            id: manifest.id, version: manifest.version, kind: manifest.kind,
            title: manifest.title, description: manifest.description, state: .found,
            path: manifest.code.inside(folder).path, isolation: isolation)
        self.manifest = "\(folder)/manifest.json"
        callSeconds = manifest.callSeconds
        paths = manifest.paths
        if case .program = manifest.code { isProgram = true }
    }

    fileprivate init(unreadable name: String, path: String, isolation: Isolation) {
        self.init(
            id: name, version: "", kind: nil, title: "", description: "", state: .found,
            path: path, isolation: isolation)
        manifest = path
    }

    /// Creates the status of a plugin whose class is loaded already.
    init(loaded plugin: Plugin) {
        self.init(
            id: plugin.id, version: plugin.version, kind: .component(plugin.kind),
            title: plugin.title, description: plugin.description, state: .loaded,
            path: plugin.path, isolation: plugin.isolation, paths: plugin.paths,
            plugin: plugin)
        if case .program = plugin.code { isProgram = true }
    }

    /// Creates the status of a plugin of delegates whose class is loaded already.
    init(loaded delegate: DelegatePlugin) {
        self.init(
            id: delegate.id, version: "", kind: .delegate, title: delegate.id, description: "",
            state: .loaded, path: "", isolation: .daemon, delegate: delegate)
    }

    fileprivate mutating func end(with problem: PluginProblem) {
        state =
            switch problem {
            case .refused: .refused
            case .failed: .failed
            }
        reason = problem.reason
    }

    fileprivate mutating func giveWay(to other: PluginStatus) {
        state = .superseded
        reason =
            other.version == version
            ? "The same version was found earlier, at \(other.path)."
            : "Version \(other.version) at \(other.path) is newer."
    }

    /// Loads the library, if what the plugin makes lives in the daemon.
    fileprivate mutating func load() {
        guard let kind else { return }
        do throws(PluginProblem) {
            if case .component(let component) = kind {
                var loaded = Plugin(
                    id: id, version: version, kind: component, title: title,
                    description: description, code: isProgram ? .program(path) : .library(path),
                    isolation: isolation, paths: paths)
                // Those of other folders are isolated by default.
                loaded.isShipped = isolation == .daemon
                loaded.callSeconds = callSeconds
                loaded.held = try HeldCode(loaded.code)
                if isolation == .daemon {
                    loaded.component = try PluginLoading.component(path, id: id, kind: component)
                }
                plugin = loaded
            } else {
                let type = try PluginLoading.delegate(path, id: id)
                if let secret = type.settings.first(where: { $0.type == .secret }) {
                    throw .failed(
                        "\(path): the setting '\(secret.name)' is declared secret, and a delegate takes none."
                    )
                }
                delegate = DelegatePlugin(id: id, delegate: type)
            }
            state = .loaded
        } catch {
            end(with: error)
        }
    }
}

/// The names of a folder's entries.
enum FolderNames {
    /// Returns the names that are not hidden, sorted; nil if the folder can't be read, with the reason in `errno`.
    static func visible(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

/// Recognises programs that can be started, without starting them.
enum PluginProgram {
    /// Checks a program's file; throws for one that can't be read, is empty, or may not be executed.
    static func probe(_ program: String) throws(PluginProblem) {
        let file = try RegularFile(ofPlugin: program)
        guard file.size > 0 else { throw .refused("\(program) is empty: it is no program.") }
        guard access(program, X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw .refused(
                "\(program) can't be executed (\(reason)): 'chmod +x \(program)', and let it begin with "
                    + "what runs it, as '#!/usr/bin/python3'.")
        }
    }
}
