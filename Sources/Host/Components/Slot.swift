import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader
import Store

/// A component's place in its container: its definition, its port while it has one, its list, and the requests that
/// wait for it.
///
/// Commands reach the component in the order of their arrival. A command waits, and all behind it, while
///
/// - the component is being started, for the first time or after its worker was lost;
/// - the gate is closed, because the container is about to change the component or its records;
/// - it needs the committed state, and the component's own state is ahead of that;
/// - restored screens are not compared yet, and may have questions that come first.
///
/// Questions about the committed state wait apart from the commands: ``QuietReads``.
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
    /// The progress of its start.
    var progress = StartProgress()
    /// Known damage of its records.
    var damage = RecordDamage()
    var observer: ObserverID?
    /// The state of its source.
    var source = SourceState()
    /// Events that its component reported by itself and that are still to be delivered.
    private(set) var reported = ReportedEvents()
    /// The pictures that the component is asked for.
    private(set) lazy var images = ImageReads(of: self)
    /// The questions to its component, if that is a source that is asked; nil: it knows its items.
    private(set) var asked: AskedSource?
    /// The calls that are refused because they ended its worker.
    var poison = PoisonCalls()
    /// Finds a call that takes long, and requests that have waited for too long.
    var waits = WaitWatch()
    /// The change of settings that the component goes on with.
    private(set) lazy var settingsChange = SettingsChange(of: self)
    /// What the component keeps for its successor.
    private(set) lazy var kept = KeptBytes(of: self)

    let requests = RequestQueue()
    private var isPumping = false

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

    /// The number of its present start, by which callbacks of earlier starts are recognised.
    var start: Int { progress.attempt }

    /// The reason for refusing calls while its start is stalled; nil: it is not.
    var stall: String? { progress.stall }

    /// Whether no answer of the component is outstanding.
    var isIdle: Bool { requests.isIdle }

    var waitingCount: Int { requests.waitingCount }

    /// Throws unless what is shown is what the component holds, or held when it was lost.
    func checkShown() throws(HostError) {
        guard !isShown || awaitsItems else { return }
        if case .failed(let reason) = state { throw unavailable(reason, retryAfter: 5) }
        if let stall { throw unavailable(stall, retryAfter: 5) }
        if isShown { throw unavailable(loadingReason) }
    }

    /// The error for work that needs the component while it is not attached.
    var absence: HostError {
        if case .failed(let reason) = state { return unavailable(reason, retryAfter: 5) }
        return unavailable(stall ?? "It is being started.")
    }

    /// The error for a call that the component can't answer.
    func unavailable(_ reason: String, retryAfter: Double = 1) -> HostError {
        .componentUnavailable(component: name, reason: reason, retryAfter: retryAfter)
    }

    /// The error for a long query whose items keep changing while it runs.
    var tooBusy: HostError {
        unavailable("Its items change faster than the query can be answered; ask for less.")
    }
}

// MARK: Transitions

extension Slot {
    /// Begins a start of the component, the first one or another.
    ///
    /// - Returns: the number of this start.
    func begin() -> Int {
        release()
        state = .starting
        return progress.begin()
    }

    /// Notes that the component was lost, and is started again after a pause.
    func beginPause() { state = .starting }

    /// Sets the port of a component that was launched and has no records yet.
    func connect(_ port: any ComponentPort) {
        self.port = port
        facts = port.facts
        guard port.asks != asks else { return }
        asked?.fail(because: "It is no source that is asked any more.")
        asked = port.asks ? AskedSource(of: self) : nil
    }

    /// Notes that the component has all its records.
    func prepared(_ loaded: Loaded) { state = .prepared(loaded) }

    /// Notes that the component is part of the container.
    func attached() {
        state = .attached
        isShown = true
        settingsChange.end()
        asked?.connect()
        kept.writeRest()
    }

    /// Notes that the component can't be made.
    func failed(because reason: String) {
        release()
        state = .failed(reason: reason)
        settingsChange.end()
        asked?.fail(because: reason)
    }

    /// Closes the slot, which is no longer part of its container, and ends the component.
    func close() {
        progress.end()
        release()
        state = .closed
        settingsChange.end()
        asked?.fail(because: "It was detached.")
    }

    /// Does what ``close()`` does, and notifies the component if it was attached.
    func leave() {
        if isAttached { port?.pass(.willDetach) }
        let port = isAttached ? port : nil
        progress.end()
        state = .closed
        port?.pass(.didDetach)
        release()
        settingsChange.end()
        asked?.fail(because: "It was detached.")
    }

    /// Closes the port, if there is one, and drops the state that belongs to it.
    func release() {
        stopObserving()
        endStart()
        source = SourceState()
        asked?.disconnect(isLost: false)
        reported.letGo()
        reported = ReportedEvents()
        progress.forgetRead()
        port?.close()
        images.endAll()
        // The port is released here and not on another thread, because a component is called on the loop alone, also
        // at its end. Large data of the host's is freed on a thread by the port.
        port = nil
        if let list = own.contents?.dropLoaded() { container?.forget(list) }
        own.filters?.forget()
    }

    /// Sets the plugin that later starts make the component of; it makes components of the same kind.
    func take(_ plugin: Plugin) { self.plugin = plugin }

    /// Sets a definition that does not change the component itself, such as another title.
    func take(_ definition: ComponentDefinition) { self.definition = definition }

    /// Notes that the component has taken new settings, which may change its facts and its filters.
    func tookSettings() {
        facts = port?.facts
        own.filters?.forget()
        container?.structureChanged()
    }

    /// Takes another slot's place, with the requests that wait there.
    ///
    /// What the other slot showed stays shown until this one's component has reported its own state, even if its
    /// worker is lost before that.
    ///
    /// - Parameters:
    ///   - old: the other slot.
    ///   - showsLoaded: whether this one's loaded items may be shown before a delegate has passed them.
    func replace(_ old: Slot, showsLoaded: Bool) {
        requests.takeWaiting(of: old.requests)
        guard old.kind == kind else { return }
        isShown = old.isShown
        // The list of a source that is asked holds answers of the old component.
        guard !asks else { return }
        own.goOn(from: old.own, hasSameFields: old.fields == fields, showsLoaded: showsLoaded)
    }
}

// MARK: Requests

extension Slot {
    /// Whether a waiting request, which came before the gate was closed, will soon be sent.
    var isPassingGate: Bool {
        guard isAttached, let first = requests.first, let container,
            container.mayPassGate(of: name, first)
        else { return false }
        return !first.isReady || canRun(first)
    }

    /// Sends a request once the component can take it.
    func ask(_ request: Request) {
        request.number = domain.nextTicket()
        enqueue(request)
    }

    /// Asks a question that does not depend on records.
    func ask(
        _ query: ComponentQuery, passesGate: Bool = false, by user: String = "",
        isOfScreen: Bool = false, _ done: @escaping (Result<ComponentAnswer, HostError>) -> Void
    ) {
        ask(
            Question(
                needsQuiet: false, passesGate: passesGate, by: user, isOfScreen: isOfScreen,
                make: { query }, done: done))
    }

    private func enqueue(_ request: Request) {
        if case .failed(let reason) = state { return request.fail(unavailable(reason)) }
        if let stall { return request.fail(unavailable(stall, retryAfter: 5)) }
        if case .closed = state {
            // The slot was replaced while the caller was busy with something else.
            guard let successor = container?.slot(name), successor !== self else {
                return request.fail(gone)
            }
            return successor.enqueue(request)
        }
        if request.passesGate { return send(request) }
        let isFirst = requests.isFree(for: request) || request.isQuietRead && goesFirst(request)
        if isFirst, canRun(request) { return send(request) }
        // A command that waits only for commits can soon be sent, and is not refused.
        let most = !request.isQuietRead && isOpen ? Int.max : domain.limits.waitingCalls
        do throws(WaitingPlaces.Full) {
            try requests.add(request, of: most, newest: domain.lastTicket)
        } catch {
            request.fail(unavailable(error.reason, retryAfter: 0.5))
        }
    }

    /// Sends the requests that can be sent now, in slices if there are many.
    ///
    /// An answer that comes synchronously calls this too. It then returns at once, and the outer call continues, so
    /// that a long queue makes no deep stack.
    func pump() {
        guard !isPumping, waitingCount > 0 else { return }
        isPumping = true
        defer { isPumping = false }
        if let container {
            requests.follow(
                oldest: container.oldestOperation(of: name), newest: domain.lastTicket)
        }
        let end = NIODeadline.now() + Domain.slice
        while let next = nextToRun() {
            send(next)
            guard NIODeadline.now() >= end else { continue }
            return domain.afterPoll { [weak self] in self?.container?.pump() }
        }
    }

    private func nextToRun() -> Request? {
        requests.takeNext(
            overtaking: container?.holdsCommands ?? false ? goesFirst : nil, where: canRun)
    }

    private func canRun(_ request: Request) -> Bool {
        guard isAttached, request.isReady, !waits.isSlow, let container else { return false }
        guard
            request.passesGate || !container.isGated(name)
                || container.mayPassGate(of: name, request)
        else { return false }
        guard !request.needsQuiet || container.isQuiet(name) else { return false }
        if request.isCommand, container.holdsCommands { return false }
        return requests.isNext(request, overtakes: goesFirst(request))
    }

    /// Whether a read may overtake waiting requests.
    ///
    /// Commands are held until restored screens are compared, and these may have questions for the component.
    private func goesFirst(_ request: Request) -> Bool {
        request.isOfScreen && container?.holdsCommands ?? false
    }

    /// Whether the component takes requests, at the latest when the present commits are done.
    private var isOpen: Bool {
        isAttached && !waits.isSlow && !(container?.isGated(name) ?? true)
    }

    private func send(_ request: Request) {
        request.place = nil
        guard container != nil else { return request.fail(gone) }
        // A component that is being loaded has a port already, but not all of its records.
        guard isAttached, let port else {
            return request.fail(unavailable("It is being started."))
        }
        request.send(to: port, of: self)
    }

    /// Notes that a request was sent; its answer is handled by ``arrived(_:_:)``.
    func sent(_ request: Request) {
        requests.sent(request)
        if isolation == .process, waits.begin(at: request.number) { lookAtWaiting() }
    }

    /// Handles an answer; false if the worker was lost instead.
    func arrived(_ request: Request, _ failure: PortFailure?) -> Bool {
        if case .died(let reason) = failure {
            if requests.isAwaited(request) { lost(PortDeath(reason)) }
            return false
        }
        guard requests.answered(request) else { return false }
        progress.forgetFailures()
        if waits.isSlow { endSlow() }
        return true
    }

    func error(_ failure: PortFailure) -> HostError {
        switch failure {
        case .refused(let refusal):
            HostError(refusal, container: containerName, component: name)
        case .died(let reason): unavailable(reason)
        }
    }

    private var gone: HostError {
        .componentNotFound(container: containerName, component: name)
    }
}

// MARK: Requests without an answer

extension Slot {
    /// Refuses all requests, whether waiting or sent.
    func refuseWaiting(_ error: HostError) {
        let refused = requests.removeAll()
        let operations = refused.compactMap(\.operation)
        for request in refused { request.fail(error) }
        container?.cancel(operations)
    }

    /// Refuses some of the requests that were not sent yet.
    func refuseWaiting(_ error: HostError, where isOne: (Request) -> Bool) {
        for request in requests.removeWaiting(where: isOne) { request.fail(error) }
    }
}

extension Result {
    /// The error; nil on success.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
