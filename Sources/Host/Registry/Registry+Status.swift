import Glibc
import PluginLoader
import Store

// The registry's status, and what an administrator asks about plugins.
extension Registry {
    /// The status of the registry, as of now; `hasDetails`: with how components failed, and why plugins were refused, for
    /// moderators and administrators.
    public func status(hasDetails: Bool) -> RegistryStatus {
        RegistryStatus(
            identity: identity, sequence: domain.commits.sequence, containers: containers.count,
            items: containers.values.reduce(0) { $0 + $1.itemCount },
            plugins: plugins.plugins.count { $0.state == .loaded }, workers: workers,
            subscribers: domain.bus.subscriptionCount, screens: state.screens.count,
            problems: problems(hasDetails: hasDetails), storeBytes: storeBytes,
            past: domain.store.keptPast.map(RegistryStatus.Past.init))
    }

    /// The number of components of each plugin, by the plugin's id.
    public func componentsByPlugin() -> [String: Int] {
        var counts: [String: Int] = [:]
        for container in containers.values {
            for slot in container.slots { counts[slot.definition.plugin, default: 0] += 1 }
        }
        return counts
    }

    /// The components that were restarted, by their plugin's id; `hasDetails`: with how they failed, for moderators
    /// and administrators.
    public func restartsByPlugin(hasDetails: Bool) -> [String: [PluginRestarts]] {
        var all: [String: [PluginRestarts]] = [:]
        for container in containers.values.sorted(by: { $0.name < $1.name }) {
            for slot in container.slots {
                guard let restarts = slot.restarts else { continue }
                all[slot.definition.plugin, default: []].append(
                    PluginRestarts(
                        container: container.name, component: slot.name,
                        restarts: hasDetails ? restarts : restarts.plain))
            }
        }
        return all
    }

    /// Why a plugin's components are forced into workers, and its delegates disabled; nil if they are not.
    public func isolationReason(of plugin: String) -> String? {
        domain.isolated.reason(of: plugin)
    }

    /// Ends the isolation of a plugin after a crash: from the daemon's next start on, definitions decide again;
    /// returns whether it was isolated.
    public func release(_ plugin: String) -> Bool { domain.isolated.release(plugin) }

    private var workers: Int {
        containers.values.reduce(0) { count, container in
            count + container.slots.count { $0.isAttached && $0.isolation == .process }
        }
    }

    private func problems(hasDetails: Bool) -> [String] {
        domain.store.checkFiles()
        var problems = pluginProblems(hasDetails: hasDetails)
        problems += containers.values.sorted { $0.name < $1.name }.flatMap {
            ContainerProblems(container: $0, hasDetails: hasDetails).sentences
        }
        problems += domain.isolated.reasons
        problems += startup.blamed
        problems += domain.store.damages.map { "The store was damaged: \($0)" }
        problems += startup.losses
        problems += erasures.problems
        if let problem = domain.pastDamage.problem { problems.append("The store \(problem)") }
        if domain.missingEntries > 0 {
            problems.append(
                "The store is damaged: entries of the log are missing (\(domain.missingEntries)): subscribers get a "
                    + "gap, damaged, in their place. Restore a backup; 'atriumctl verify' checks the whole store"
            )
        }
        if let problem = domain.verified.problem { problems.append("The store \(problem)") }
        if let reason = domain.store.unavailability {
            problems.append("The store takes no writes: \(reason)")
        }
        return problems
    }

    private func pluginProblems(hasDetails: Bool) -> [String] {
        let unusable = plugins.plugins.filter { $0.state == .refused || $0.state == .failed }
        guard hasDetails else {
            return plugins.problems.map { _ in "A plugin directory is not looked into" }
                + unusable.map { "The plugin \($0.id) was \($0.state.rawValue)" }
        }
        return plugins.problems
            + unusable.map { "The plugin \($0.id) was \($0.state.rawValue): \($0.reason ?? "")" }
    }

    private var storeBytes: Int {
        // Foundation's file attributes include the owner's name, and looking that up in the user directory may hang.
        ["", "-wal", "-shm"].reduce(0) { sum, suffix in
            var info = stat()
            return stat(domain.store.file + suffix, &info) == 0 ? sum + Int(info.st_size) : sum
        }
    }
}

extension RegistryStatus.Past {
    fileprivate init(_ kept: KeptPast) {
        let limits = kept.limits
        self.init(
            count: kept.count, bytes: kept.bytes, most: limits.count,
            mostBytes: limits.bytes == .max ? nil : limits.bytes,
            mostDays: limits.age == .max ? nil : Int(limits.age / 86_400_000))
    }
}
