internal import AtriumKit
import Glibc

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
    /// Checks a program's file.
    ///
    /// - Throws: `PluginProblem.refused` for a file that can't be read, is empty, or may not be executed.
    static func probe(_ program: String) throws(PluginProblem) {
        let file = try RegularFile(ofPlugin: program)
        guard file.size > 0 else { throw .refused("\(program) is empty: it is no program.") }
        guard access(program, X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw .refused(
                "\(program) can't be executed (\(reason)): 'chmod +x \(program)', and let it begin with "
                    + "what runs it, as '#!/usr/bin/env python3'.")
        }
    }
}
