/// The version on the disk of a plugin that is loaded, if it differs from the loaded one.
public struct PluginCopy: Sendable, Hashable {
    /// The version in its manifest; empty if the manifest can't be read.
    public var version: String
    /// Why it can't be read, as a sentence; nil: it can.
    public var problem: String?
}

extension PluginStatus {
    /// Returns the version on the disk; nil if it is the loaded one, and for a plugin that is not loaded.
    ///
    /// It reads the manifest and the file's attributes: call it on a thread that may block.
    public func copyOnDisk() -> PluginCopy? {
        guard state == .loaded, !manifest.isEmpty else { return nil }
        do throws(PluginProblem) {
            let found = try PluginManifest(manifest)
            guard found.id == id else {
                throw .refused("\(manifest) is the manifest of '\(found.id)' now.")
            }
            let folder = manifest.dropLast("/manifest.json".count)
            let code = found.code.inside(String(folder))
            let isSame =
                plugin?.held.map { $0.identity == HeldCode.identity(of: code) } ?? true
            if found.version == version, isSame, code.path == path { return nil }
            return PluginCopy(version: found.version)
        } catch {
            return PluginCopy(version: "", problem: error.reason)
        }
    }
}

extension PluginLibrary {
    /// Scans the directories again for one plugin, and loads the newest copy of it for workers.
    ///
    /// It reads files: call it on a thread that may block. Nothing is loaded into this process.
    ///
    /// - Parameter id: the plugin's identifier.
    /// - Returns: all copies of the plugin, one of which is loaded.
    /// - Throws: `PluginProblem` if no copy can be loaded, or if the plugin lives in the daemon.
    public func reread(_ id: String) throws(PluginProblem) -> [PluginStatus] {
        guard let source else { throw .refused("The plugin \(id) came from no directory.") }
        var scan = PluginScan(owners: source.owners, delegates: source.delegates)
        for directory in source.directories { scan.findPlugins(in: directory) }
        let known = plugins.filter { $0.id == id && !$0.manifest.isEmpty }.map(\.manifest)
        return try scan.resolved(id, known: known)
    }

    /// Returns this library with the copies of one plugin replaced.
    public func replacing(_ id: String, with copies: [PluginStatus]) -> PluginLibrary {
        let place = plugins.firstIndex { $0.id == id } ?? plugins.count
        let before = plugins[..<place]
        let after = plugins[place...].filter { $0.id != id }
        // A copy whose manifest could not be read has another id in the list, until now.
        let isElsewhere = { (status: PluginStatus) in
            copies.contains { $0.manifest == status.manifest && !status.manifest.isEmpty }
        }
        return PluginLibrary(
            before.filter { !isElsewhere($0) } + copies + after.filter { !isElsewhere($0) },
            problems: problems, source: source)
    }
}
