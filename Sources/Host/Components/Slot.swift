import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader

/// A component's place in its container: its definition, its port while it has one, its list, and the requests that
/// wait for it.
///
/// Here are the states of the component and what its parts share. Each part keeps state of its own: the start
/// (``ComponentStart``), the requests (``RequestDispatcher``), what it reports by itself (``ComponentReports``), its source
/// (``ComponentSource``), questions to a source that is asked (``AskedSource``), pictures (``ImageReads``), a change of
/// settings (``SettingsChange``) and bytes for a successor (``KeptBytes``).
final class Slot {
    enum State {
        /// Being made and loaded; requests wait.
        case starting
        /// Loaded, but not part of the container yet.
        case prepared(Loaded)
        case attached
        /// It could not be made; requests are refused.
        case failed(reason: String)
        /// No longer part of the container.
        case closed
    }

    let name: String
    let domain: Domain
    private(set) var plugin: Plugin?
    /// The component's kind; if the plugin is not there, the kind that it had before.
    let kind: Kind?
    /// The fields that the component was made with.
    let fields: [Field]
    /// Whether it is forced into a worker, whatever its definition says.
    private let isIsolated: Bool
    /// The state that depends on the component's kind.
    let own: KindState
    private(set) var definition: ComponentDefinition
    private(set) weak var container: (any SlotOwner)?
    let containerName: String

    private(set) var state = State.starting
    private(set) var port: (any ComponentPort)?
    /// Which votes or comments it takes, also while its worker is lost; nil: not known yet.
    private(set) var facts: ComponentFacts?
    /// Whether the items, tallies and counts are those of the component, now or before it was lost.
    private(set) var isShown = false
    /// The start of the component, the present one or the last.
    private(set) lazy var start = ComponentStart(of: self)
    /// Its ends and failed starts.
    let failures = ComponentFailures()
    var damage = RecordDamage()
    private(set) lazy var source = ComponentSource(of: self)
    /// What its component sends without being asked.
    private(set) lazy var reports = ComponentReports(of: self)
    /// The pictures that the component is asked for.
    private(set) lazy var images = ImageReads(of: self)
    /// The questions to its component, if that is a source that is asked; nil: it knows its items.
    private(set) var asked: AskedSource?
    /// The change of settings that the component goes on with.
    private(set) lazy var settingsChange = SettingsChange(of: self)
    /// The bytes that the component keeps for its successor.
    private(set) lazy var kept = KeptBytes(of: self)
    /// The requests that the component has not answered.
    let requests = RequestDispatcher()

    init(
        _ definition: ComponentDefinition, kind: Kind?, of container: some SlotOwner,
        fields: [Field]
    ) {
        self.definition = definition
        self.container = container
        containerName = container.name
        self.fields = fields
        domain = container.domain
        name = definition.name
        plugin = domain.plugins.plugin(definition.plugin)
        isIsolated = domain.isolated.reason(of: definition.plugin) != nil
        self.kind = plugin?.kind ?? kind
        own = KindState(self.kind, fields: fields)
    }

    /// The name that people see.
    var title: String { definition.title ?? plugin?.title ?? name }

    var isolation: Isolation {
        isIsolated ? .process : definition.isolation ?? plugin?.isolation ?? .daemon
    }

    /// The time that its worker may take for one call, and that a call may wait behind others.
    var callTime: Duration {
        (definition.callSeconds ?? plugin?.callSeconds).map { .seconds($0) }
            ?? domain.limits.callTime
    }

    /// The name of the setting that determines ``callTime``, for messages.
    var callSetting: String {
        if definition.callSeconds != nil { return "callSeconds of the component" }
        return plugin?.callSeconds == nil
            ? "limits.callSeconds" : "callSeconds of the plugin's manifest"
    }

    var reference: ComponentReference? { kind.map { ComponentReference(name: name, kind: $0) } }

    /// Whether it is loaded, but not part of the container yet.
    var isPrepared: Bool { if case .prepared = state { true } else { false } }

    /// Whether its component is a source that is asked.
    var asks: Bool { asked != nil }

    var isAttached: Bool { if case .attached = state { true } else { false } }

    /// The list of a contents component; nil for other kinds.
    var list: ContentIndex? { own.contents?.list }

    /// The tally of a subject's votes; nil: there are none.
    func tally(of subject: Subject) -> Tally? { own.votes?.tallies[subject] }

    /// The number of comments on a subject; nil: there are none.
    func commentCount(of subject: Subject) -> Int? { own.comments?.counts[subject] }

    /// Throws unless what is shown is what the component holds, or held when it was lost.
    func checkShown() throws(HostError) {
        guard !isShown || own.awaitsItems else { return }
        if case .failed(let reason) = state { throw failed(reason) }
        if let stall = start.watch.stall { throw stalled(stall) }
        if isShown { throw unavailable(source.loadingReason) }
    }

    /// The error for work that needs the component while it is not attached.
    var absence: HostError {
        if case .failed(let reason) = state { return failed(reason) }
        if let stall = start.watch.stall { return stalled(stall, retryAfter: 1) }
        return unavailable("It is being started.")
    }

    /// The error for a call that the component can't answer.
    func unavailable(_ reason: String, retryAfter: Double = 1) -> HostError {
        .componentUnavailable(component: name, reason: reason, retryAfter: retryAfter)
    }

    /// The error for a call that the component can't answer because it failed: what anybody may read of the call and
    /// what to do, and how it failed, for those who look after it.
    func failure(_ reason: String, details: String, retryAfter: Double = 1) -> HostError {
        .componentFailed(
            ComponentFailure(
                component: name, reason: reason, details: details, retryAfter: retryAfter))
    }

    /// The error for a call during which the component was lost.
    func lost(_ details: String, retryAfter: Double = 1) -> HostError {
        failure(
            "It failed during the call, of which nothing was done, and is being started again: try again.",
            details: details, retryAfter: retryAfter)
    }

    /// The error for a call while the component does not run, because it failed.
    func failed(_ details: String, retryAfter: Double = 5) -> HostError {
        failure(
            "It failed and does not run at present: try again later.", details: details,
            retryAfter: retryAfter)
    }

    /// The error for a call while the start of the component is stalled.
    func stalled(_ details: String, retryAfter: Double = 5) -> HostError {
        failure(
            "It is being started, which takes longer than usual: try again later.",
            details: details, retryAfter: retryAfter)
    }

    /// The error for a long query whose items keep changing while it runs.
    var tooBusy: HostError {
        unavailable("Its items change faster than the query can be answered; ask for less.")
    }

    /// Fields of a log message about this component.
    func logFields(_ others: Logger.Metadata = [:]) -> Logger.Metadata {
        others.merging([
            "container": "\(containerName)", "component": "\(name)",
            "plugin": "\(definition.plugin)",
        ]) { $1 }
    }
}

// MARK: Transitions

extension Slot {
    /// Begins a start of the component, the first one or another.
    func begin() {
        release()
        state = .starting
    }

    /// Records that the component was lost, and is started again after a pause.
    func beginPause() { state = .starting }

    /// Sets the port of a component that was launched and has no records yet.
    func connect(_ port: any ComponentPort) {
        self.port = port
        facts = port.facts
        guard port.asks != asks else { return }
        asked?.fail(because: "It is no source that is asked any more.")
        asked = port.asks ? AskedSource(of: self) : nil
    }

    /// Records that the component has all its records.
    func prepared(_ loaded: Loaded) { state = .prepared(loaded) }

    /// Records that the component is part of the container.
    func attached() {
        state = .attached
        isShown = true
        settingsChange.end()
        asked?.connect()
        kept.writeRest()
        start.succeed()
    }

    /// Records that the component can't be made.
    func failed(because reason: String) {
        release()
        state = .failed(reason: reason)
        settingsChange.end()
        asked?.fail(because: failed(reason).plainSentence)
    }

    /// Handles the loss of the worker: restarts the component, and sends unanswered requests again.
    func restart(after death: PortDeath) {
        let reason = death.reason
        guard isAttached else { return start.fail(because: reason) }
        container?.meters.countRestart(of: name)
        domain.logger.log(.workerEnded, logFields(["reason": "\(reason)"]))
        if death.wasAtValues, let port,
            let pause = own.filters?.recordLoss(
                of: port.observedFields, because: reason, at: domain.now(),
                longest: domain.limits.restartPause)
        {
            // Values that change meanwhile are sent then.
            domain.timers.after(TimeAmount(pause + .milliseconds(1))) { [weak self] in
                guard let self, let filters = own.filters, filters.losses.count > 0 else { return }
                container?.structureChanged()
            }
        }
        let unanswered = requests.requeueUnanswered(after: death, of: self)
        asked?.disconnect(isLost: true)
        release()
        beginPause()
        // Only now: a caller may react with another call, and the component must count as absent by then.
        for (request, error) in unanswered.failures { request.fail(error) }
        container?.structureChanged()
        container?.cancel(unanswered.operations)
        start.restart(because: reason)
    }

    /// Restarts a component whose state differs from the store; no call is blamed.
    func restart(because reason: String) { restart(after: PortDeath(reason, wasAtRequest: false)) }

    /// Closes the slot, which is no longer part of its container, and ends the component.
    func close() {
        start.end()
        release()
        state = .closed
        settingsChange.end()
        asked?.fail(because: "It was detached.")
    }

    /// Does what ``close()`` does, and notifies the component if it was attached.
    func leave() {
        if isAttached { port?.notify(.willDetach) }
        let port = isAttached ? port : nil
        start.end()
        state = .closed
        port?.notify(.didDetach)
        release()
        settingsChange.end()
        asked?.fail(because: "It was detached.")
    }

    /// Closes the port, if there is one, and drops the state that belongs to it.
    func release() {
        reports.end()
        start.cancel()
        source.reset()
        asked?.disconnect(isLost: false)
        port?.close()
        images.endAll()
        // The port is released here and not on another thread, because a component is called on the loop alone, also
        // at its end. Large data of the host's is freed on a thread by the port.
        port = nil
        if let list = own.contents?.dropLoaded() { container?.drop(list) }
        own.filters?.clear()
    }

    /// Sets the plugin that later starts make the component of; it makes components of the same kind.
    func setPlugin(_ plugin: Plugin) {
        self.plugin = plugin
        own.filters?.forgetLosses()
        failures.forgetWrongAnswers()
    }

    /// Sets a definition that does not change the component itself, such as another title.
    func setDefinition(_ definition: ComponentDefinition) { self.definition = definition }

    /// Records that the component has taken new settings, which may change its facts and its filters.
    func settingsApplied() {
        facts = port?.facts
        own.filters?.clear()
        own.filters?.forgetLosses()
        failures.forgetWrongAnswers()
        container?.structureChanged()
    }

    /// Takes another slot's place, with the requests that wait there.
    ///
    /// The state of the other slot stays shown until this one's component has reported its own state, even if its
    /// worker is lost before that.
    ///
    /// - Parameters:
    ///   - old: the other slot.
    ///   - showsLoaded: whether this one's loaded items may be shown before a delegate has passed them.
    func replace(_ old: Slot, showsLoaded: Bool) {
        requests.moveWaiting(from: old.requests)
        guard old.kind == kind else { return }
        isShown = old.isShown
        // The list of a source that is asked holds answers of the old component.
        guard !asks else { return }
        own.inherit(from: old.own, hasSameFields: old.fields == fields, showsLoaded: showsLoaded)
    }
}
