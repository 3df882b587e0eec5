import AtriumKit
import Index
import LogMessages
import Logging
import PluginLoader
import Store

/// Reads the store at the start, and reports what the end of the previous process left.
public final class Startup {
    private let state: RegistryState
    private let erasures: Erasures
    private var domain: Domain { state.domain }
    private var containers: [String: Container] { state.containers }
    /// The component that the previous process was making when it ended.
    private let left: InitNote.Component?
    /// The component that the previous process was calling when it crashed.
    private let crashed: InitNote.Component?
    /// A sentence about definitions that were missing from the store; nil if none was.
    private var lostDefinitions: String?
    let detached: DetachedRecords

    init(
        of state: RegistryState, _ erasures: Erasures, left: InitNote.Component?,
        _ crashed: InitNote.Component?
    ) {
        self.state = state
        self.erasures = erasures
        self.left = left
        self.crashed = crashed
        detached = DetachedRecords(in: state.domain) { state.containers[$0] }
    }

    /// Reads actors and containers from the store, and starts all components.
    ///
    /// - Parameters:
    ///   - reply: called once each component is attached, has failed, or makes no progress with its start; the status
    ///     says which. Fails only with `storeUnavailable`.
    ///   - known: called earlier, once the containers are known and calls can be accepted; calls that need components
    ///     wait for them.
    public func load(_ reply: @escaping Reply<Void>, known: @escaping () -> Void = {}) {
        blame()
        announcePlugins()
        domain.read { store in
            var definitions: [DefinitionRecord] = []
            var unreadable: [String] = []
            let difference = try store.forEachRecord(container: "", component: "") {
                name, bytes, _ in
                let name = String(decoding: name, as: UTF8.self)
                let value = bytes.flatMap { try? Value(jsonBytes: Array($0)) }
                if let record = value.flatMap({ DefinitionRecord(name: name, value: $0) }) {
                    definitions.append(record)
                } else {
                    unreadable.append(name)
                }
            }
            var erasures: [Int64] = []
            try store.forEachRecord(container: "", component: PersonErasure.notes) { key, _, _ in
                if let number = Int64(String(decoding: key, as: UTF8.self)) {
                    erasures.append(number)
                }
            }
            return Stored(
                actors: try store.actors(), definitions: definitions, unreadable: unreadable,
                difference: difference, erasures: erasures)
        } then: { [self] result in
            loaded(result, known, reply)
        }
    }

    /// The progress of ``load(_:known:)``.
    public func progress() -> LoadProgress {
        LoadProgress(
            containers: containers.count,
            loaded: containers.values.count { !$0.loading.isUnderWay },
            records: domain.recordsRead.value, steps: domain.slices.steps)
    }

    /// The component that the previous process was making when it ended, until it has started.
    ///
    /// Then the call that was interrupted has succeeded.
    var blamed: [String] {
        guard let left, containers[left.container]?.hasMade(left) != true else { return [] }
        return [left.problem]
    }

    /// The definitions, and the records of detached components, that the store has lost.
    var losses: [String] {
        let lost = lostDefinitions.map {
            "The store is damaged: of the definitions of containers, \($0). Restore a backup, or "
                + "apply them again: the records are there"
        }
        return [lost].compactMap(\.self) + detached.problems
    }

    /// The data of the registry in the store.
    private struct Stored: Sendable {
        var actors: [Actor]
        var definitions: [DefinitionRecord]
        var unreadable: [String]
        /// How many definitions are missing; nil if none is.
        var difference: RecordDifference?
        /// The numbers of persons who are being erased.
        var erasures: [Int64]
    }

    private func loaded(
        _ result: Result<Stored, any Error>, _ known: () -> Void, _ reply: @escaping Reply<Void>
    ) {
        switch result {
        case .failure(let error):
            reply(.failure(.unreadable(error)))
        case .success(let stored):
            let erasing = Set(stored.erasures)
            domain.actors.load(stored.actors, erasing: erasing)
            lostDefinitions = stored.difference?.sentence
            for name in stored.unreadable {
                domain.logger.log(.definitionUnreadable, ["container": "\(name)"])
            }
            let loading = stored.definitions.map { Container($0, domain: domain) }
            for container in loading { state.add(container) }
            known()
            start(loading) { [self] in
                reply(.success(()))
                detached.run()
            }
            var names: [Int64: String] = [:]
            for actor in stored.actors where erasing.contains(actor.number) && !actor.name.isEmpty {
                names[actor.number] = actor.name
            }
            erasures.resume(stored.erasures, names)
        }
    }

    /// Starts the components of containers, and calls back once none of them is worth waiting for.
    private func start(_ loading: [Container], _ done: @escaping () -> Void) {
        var outstanding = loading.count
        guard outstanding > 0 else { return started(done) }
        for container in loading {
            container.loading.whenOver { [self] in
                outstanding -= 1
                if outstanding == 0 { started(done) }
            }
        }
        var rest = loading[...]
        // In slices, because a component in the daemon is made synchronously.
        domain.slices.run { [domain] in
            guard !domain.isStopping, let container = rest.popFirst() else { return false }
            container.loading.run()
            return true
        } then: {
        }
    }

    private func started(_ done: () -> Void) {
        domain.kept?.dropAll(but: Set(containers.values.flatMap(\.slots).map(\.kept.name)))
        done()
    }

    /// Logs which component may have caused the end of the previous process.
    private func blame() {
        if let crashed {
            let reason = domain.isolated.reason(of: crashed.plugin)
            domain.logger.log(
                .componentBlamed,
                [
                    "container": "\(crashed.container)", "component": "\(crashed.component)",
                    "plugin": "\(crashed.plugin)",
                    "reason": "\(reason ?? "It crashed, and its plugin is not there any more.")",
                ])
        }
        guard let left else { return }
        domain.logger.log(
            .componentBlamed,
            [
                "container": "\(left.container)", "component": "\(left.component)",
                "plugin": "\(left.plugin)", "reason": "\(left.problem)",
            ])
    }

    private func announcePlugins() {
        for plugin in domain.plugins.plugins {
            let event: String
            switch plugin.state {
            case .loaded: event = "loaded"
            case .refused: event = "refused"
            case .failed: event = "failed"
            case .found, .superseded: continue
            }
            domain.bus.post(
                BusNotification(
                    time: domain.now(), topic: "daemon.plugins.\(event)",
                    payload: Payload.object { $0.member("plugin", plugin.id) },
                    restricted: plugin.reason.map { reason in
                        Payload.object { $0.member("reason", reason) }
                    }))
        }
    }
}

/// The progress of a registry that loads its store.
public struct LoadProgress: Sendable, Hashable {
    /// The number of containers.
    public var containers: Int
    /// The number of containers whose components are all attached or have failed.
    public var loaded: Int
    /// The number of records that were read for components.
    public var records: Int
    /// Increases with all work that is done, also between records.
    public var steps: Int
}
