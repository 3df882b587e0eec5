import AtriumKit
import NIOCore
import PluginLoader
import Store

/// The launch of a component at one start: its secrets, the paths that it may read and what it kept are found, then
/// its launcher makes it when its turn comes, and it is loaded.
final class ComponentLaunch {
    private weak var slot: Slot?
    private let attempt: Int
    private let isolation: Isolation
    private var request: LaunchRequest
    private let done: (StartFailure?) -> Void

    /// A launch for the present start of a component.
    ///
    /// - Parameters:
    ///   - plugin: its plugin.
    ///   - slot: its slot.
    ///   - done: called at the end of the start; not called if the slot was closed or started anew meanwhile.
    init(of plugin: Plugin, for slot: Slot, _ done: @escaping (StartFailure?) -> Void) {
        self.slot = slot
        self.done = done
        attempt = slot.start.attempt
        isolation = slot.isolation
        request = LaunchRequest(
            plugin: plugin, container: slot.containerName, component: slot.name,
            settings: slot.definition.settings, fields: slot.fields, limits: slot.domain.limits)
        request.limits.callTime = slot.callTime
        request.callSetting = slot.callSetting
    }

    /// The slot; nil if it was closed or started anew meanwhile.
    private var wanted: Slot? { slot.flatMap { $0.start.attempt == attempt ? $0 : nil } }

    func run() {
        guard let domain = slot?.domain else { return }
        SecretTexts.read(
            request.settings, isCheck: domain.isCheck, on: domain.loop
        ) { [self] result in
            guard let slot = wanted else { return }
            switch result {
            case .failure(let error): done(failure(.setting(error)))
            case .success(let secrets):
                request.secrets = secrets
                findReadable(slot)
            }
        }
    }

    /// Finds the paths that the component may read in a worker.
    private func findReadable(_ slot: Slot) {
        guard isolation == .process, !request.plugin.paths.isEmpty else { return findKept(slot) }
        let domain = slot.domain
        let store = domain.store.file
        // A network file system may not answer: then the start counts as one without progress.
        slot.start.awaitAnswer()
        ReadablePaths(
            request.settings, named: request.plugin.paths,
            state: store.lastIndex(of: "/").map { String(store[..<$0]) } ?? ".",
            secrets: domain.secretFiles() + ComponentDefinition.secretFiles(request.settings)
        ).resolve(on: domain.loop) { [self] result in
            guard let slot = wanted else { return }
            slot.start.endAwaiting()
            switch result {
            case .failure(let error): done(failure(.setting(error)))
            case .success(let paths):
                request.readable = paths
                findKept(slot)
            }
        }
    }

    /// Reads what the component kept in an earlier life.
    private func findKept(_ slot: Slot) {
        slot.kept.read { [self] kept in
            guard let slot = wanted else { return }
            request.kept = kept
            waitForTurn(slot)
        }
    }

    /// Launches the component when the number of components that are being launched allows it.
    private func waitForTurn(_ slot: Slot) {
        guard isolation == .process else { return launch(slot) }
        slot.domain.starts.acquire { [self] turn in
            guard let slot = wanted else { return turn.end() }
            slot.start.setTurn(turn)
            // Before the launch, because the answer may come synchronously.
            slot.start.awaitAnswer()
            launch(slot)
        }
    }

    private func launch(_ slot: Slot) {
        var isAnswered = false
        let giveUp = slot.domain.launcher(for: isolation).launch(request, owner: slot.reports) {
            [self] result in
            isAnswered = true
            guard let slot = wanted else {
                if case .success(let port) = result { port.close() }
                return
            }
            slot.start.endLaunch()
            switch result {
            case .failure(let reason): done(failure(reason))
            case .success(let port) where port.kind != request.plugin.kind:
                port.close()
                done(.final(wrongKind(port.kind)))
            case .success(let port):
                slot.connect(port)
                slot.start.load(then: done)
                ComponentLoad(of: slot).run()
            }
        }
        if !isAnswered { slot.start.launching(giveUp) }
    }

    private func wrongKind(_ kind: Kind) -> HostError {
        .definitionInvalid(
            container: request.container,
            reason: "The plugin \(request.plugin.id) makes components of the kind "
                + "'\(kind.rawValue)' although its manifest says otherwise.")
    }

    private func failure(_ failure: LaunchFailure) -> StartFailure {
        switch failure {
        case .setting(let error):
            .final(
                .settingInvalid(
                    component: request.component, setting: error.setting, reason: error.reason))
        case .failed(let reason):
            .final(
                .definitionInvalid(
                    container: request.container,
                    reason: "The component '\(request.component)' can't be made: \(reason)"))
        case .unavailable(let reason): .passing(reason: reason)
        }
    }
}
