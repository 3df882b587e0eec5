import AtriumKit
import JSONCodec
import Logging
import NIOCore
import Store

/// What a component told at the end of its restore, to be delivered when its container takes it in.
struct Restored {
    var events: [ComponentEvent]
}

/// Records as a component applies them, with the sequence of the last entry that changed each.
struct RestoreSlice: Sendable {
    var changes: [Change] = []
    var revisions: [Int64] = []
}

/// Why a component could not be made.
enum StartFailure {
    /// Trying again won't help.
    case final(HostError)
    /// Trying again may help.
    case passing(reason: String)
}

// The start of a component: launched, restored from the store, its list filled; then its container
// takes it in. All of it in slices, so that others are served meanwhile.
extension Slot {
    /// Launches and restores the component once.
    ///
    /// - Parameter done: called unless the slot was closed, or started anew, meanwhile.
    func prepare(_ done: @escaping (StartFailure?) -> Void) {
        release()
        state = .starting
        start += 1
        let attempt = start
        guard let plugin, let container else {
            return done(.final(pluginMissing))
        }
        let request = LaunchRequest(
            plugin: plugin, container: container.name, component: name,
            settings: definition.settings, fields: fields)
        domain.launcher(for: isolation).launch(request, owner: self) { [weak self] result in
            guard let self, start == attempt else {
                if case .success(let port) = result { port.close() }
                return
            }
            switch result {
            case .failure(let failure): done(failed(failure))
            case .success(let port) where port.kind != plugin.kind:
                port.close()
                done(.final(wrongKind(port.kind)))
            case .success(let port):
                self.port = port
                startDone = done
                restore(attempt)
            }
        }
    }

    /// Starts until it succeeds or has failed too often; the container then takes the component in.
    func startUntilAttached(_ done: @escaping () -> Void) {
        prepare { [weak self] failure in
            guard let self else { return }
            switch failure {
            case nil: container?.takeIn(self) { done() }
            case .final(let error): giveUp(because: error.sentence, done)
            case .passing(let reason): tryAgain(because: reason, done)
            }
        }
    }

    /// As ``startUntilAttached(_:)``, after a pause that grows with each failure.
    func restart(because reason: String) {
        state = .starting
        tryAgain(because: reason) {}
    }

    /// Starts a component that was given up again: somebody wants it to be there.
    func revive() {
        guard case .failed = state, plugin != nil else { return }
        failedStarts = 0
        startUntilAttached {}
    }

    private func tryAgain(because reason: String, _ done: @escaping () -> Void) {
        failedStarts += 1
        guard failedStarts <= domain.limits.restarts else {
            return giveUp(because: "It ended \(failedStarts) times in a row: \(reason)", done)
        }
        let pause = min(5_000, 100 << (failedStarts - 1))
        let attempt = start
        domain.after(.milliseconds(Int64(pause))) { [weak self] in
            guard let self, start == attempt, case .starting = state else { return }
            startUntilAttached(done)
        }
    }

    private func giveUp(because reason: String, _ done: () -> Void) {
        release()
        state = .failed(reason: reason)
        container?.structureChanged()
        domain.logger.error(
            "a component failed", metadata: ["component": "\(path)", "reason": "\(reason)"])
        refuseWaiting(unavailable(reason, retryAfter: 5))
        done()
    }

    /// The worker was lost before the component was part of the container.
    func failStart(because reason: String) {
        let done = startDone
        startDone = nil
        release()
        start += 1
        done?(.passing(reason: reason))
    }

    /// Lets the port go, if there is one.
    func release() {
        if let observer { domain.bus.stopObserving(observer) }
        observer = nil
        port?.close()
        port = nil
        if let restoredList { container?.forget(restoredList) }
        restoredList = nil
        early.removeAll()
        reportedVersion = nil
    }

    /// Lets the component go for good.
    func close() {
        start += 1
        startDone = nil
        release()
        state = .closed
    }
}

// MARK: Restoring

extension Slot {
    private func restore(_ attempt: Int) {
        let (container, component) = (container?.name ?? "", name)
        domain.read { store in
            try RestoreSlice.slices(of: container, component, in: store)
        } then: { [weak self] result in
            guard let self, start == attempt, let port else { return }
            switch result {
            case .failure(let error):
                failStart(because: "Its records can't be read: \(error)")
            case .success(let slices):
                var next = 0
                domain.inSlices {
                    guard self.start == attempt, next < slices.count else { return false }
                    port.restore(slices[next].changes)
                    next += 1
                    return true
                } then: {
                    self.finishRestore(attempt, revisions: slices)
                }
            }
        }
    }

    private func finishRestore(_ attempt: Int, revisions slices: [RestoreSlice]) {
        guard start == attempt, let port else { return }
        port.finishRestore { [weak self] result in
            guard let self, start == attempt else { return }
            switch result {
            case .failure(.died(let reason)): failStart(because: reason)
            case .failure(.refused(let refusal)): failStart(because: refusal.reason)
            case .success(let events):
                fillList(events, attempt, revisions: slices) {
                    self.state = .prepared(Restored(events: events))
                    let done = self.startDone
                    self.startDone = nil
                    done?(nil)
                }
            }
        }
    }

    /// Fills a new list with the restored items, if the component has any.
    private func fillList(
        _ events: [ComponentEvent], _ attempt: Int, revisions slices: [RestoreSlice],
        then done: @escaping () -> Void
    ) {
        guard kind == .contents, let container else { return done() }
        let items = events.flatMap { event -> [Item] in
            if case .contents(.replaceAll(let items)) = event { items } else { [] }
        }
        let list = ContentIndex(fields: fields)
        restoredList = list
        var next = 0
        domain.inSlices {
            guard self.start == attempt, next < items.count else { return false }
            let end = min(next + 64, items.count)
            list.put(items[next..<end].map { ($0, self.domain.sequence) })
            next = end
            return true
        } then: {
            self.setRevisions(of: list, attempt, from: slices) {
                container.fillDerived(list, while: { self.start == attempt }, then: done)
            }
        }
    }

    /// Items that are records were last changed when these were.
    private func setRevisions(
        of list: ContentIndex, _ attempt: Int, from slices: [RestoreSlice],
        then done: @escaping () -> Void
    ) {
        var next = 0
        domain.inSlices {
            guard self.start == attempt, next < slices.count else { return false }
            for (change, revision) in zip(slices[next].changes, slices[next].revisions) {
                list.setRevision(revision, of: change.key)
            }
            next += 1
            return true
        } then: {
            if self.start == attempt { done() }
        }
    }
}

extension RestoreSlice {
    /// A component's records, decoded; those that can't be are left out: nothing of ours wrote them.
    static func slices(
        of container: String, _ component: String, in store: Store
    ) throws -> [RestoreSlice] {
        var slices: [RestoreSlice] = []
        var slice = RestoreSlice()
        try store.forEachRecord(container: container, component: component) {
            key, bytes, revision, _ in
            guard let value = try? Value(jsonBytes: Array(bytes)) else { return }
            slice.changes.append(.put(key: key, value: value))
            slice.revisions.append(revision)
            guard slice.changes.count == 128 else { return }
            slices.append(slice)
            slice = RestoreSlice()
        }
        if !slice.changes.isEmpty { slices.append(slice) }
        return slices
    }
}

// MARK: Why it could not be made

extension Slot {
    private var pluginMissing: HostError {
        .pluginNotFound(definition.plugin, known: domain.plugins.identifiers)
    }

    private func wrongKind(_ kind: Kind) -> HostError {
        .definitionInvalid(
            container: container?.name ?? "",
            reason: "The plugin \(definition.plugin) makes components of the kind "
                + "'\(kind.rawValue)' although its manifest says otherwise.")
    }

    private func failed(_ failure: LaunchFailure) -> StartFailure {
        switch failure {
        case .setting(let error):
            .final(.settingInvalid(component: name, setting: error.setting, reason: error.reason))
        case .failed(let reason):
            .final(
                .definitionInvalid(
                    container: container?.name ?? "",
                    reason: "The component '\(name)' can't be made: \(reason)"))
        case .unavailable(let reason): .passing(reason: reason)
        }
    }
}
