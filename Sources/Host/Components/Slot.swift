import AtriumKit
import DequeModule
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader
import Store

/// A component's place in its container: its definition, its port while it has one, its list, and
/// the requests that wait for it.
///
/// Commands reach the component in the order in which they came. One waits, and all behind it, while
///
/// - the component is being started, the first time or after its worker was lost;
/// - the gate is closed, because the container is about to change the component or its records;
/// - it is judged on the committed state and the component's own is ahead;
/// - screens of another process are not recognised yet, which may ask before it.
///
/// Questions about the committed state wait beside the commands: ``QuietReads``.
final class Slot {
    enum State {
        /// Being made and loaded; requests wait.
        case starting
        /// Loaded, and not yet part of the container.
        case prepared(Loaded)
        case attached
        /// Could not be made; requests are refused.
        case failed(reason: String)
        /// No longer part of the container.
        case closed
    }

    let name: String
    let domain: Domain
    let plugin: Plugin?
    /// What it does; of a plugin that is not there, what it did when it was.
    let kind: Kind?
    /// The fields that it was made with.
    let fields: [Field]
    /// Whether it lives in a worker whatever its definition says.
    private let isIsolated: Bool
    /// What belongs to its kind.
    let own: KindState
    private(set) var definition: ComponentDefinition
    private(set) weak var container: (any SlotOwner)?
    let containerName: String

    private(set) var state = State.starting
    private(set) var port: (any ComponentPort)?
    /// Which votes or comments it takes, also while its worker is lost; nil: that was never told.
    private(set) var facts: ComponentFacts?
    /// Whether items, tallies and counts are those of the component, now or before it was lost.
    private(set) var isShown = false
    /// How its start gets on.
    var progress = StartProgress()
    /// What is wrong with its records.
    var damage = RecordDamage()
    var observer: ObserverID?
    /// What its component says of its source, and what that was told.
    var source = SourceState()
    /// What its component told by itself and is still to be delivered.
    private(set) var told = ToldEvents()
    /// The pictures that its component is asked for.
    var images = ImageReads()
    /// What it is asked, where it is a source that is; nil: it knows its items.
    private(set) var asked: AskedSource?
    /// Calls that are refused because they ended its worker.
    var poison = PoisonCalls()
    /// Whether it is at one call for long, and what has waited for too long.
    var waits = WaitWatch()

    private var waiting: Deque<Request> = []
    private var reads = QuietReads()
    private var callPlaces = WaitingPlaces()
    private var readPlaces = WaitingPlaces()
    private var inFlight: Deque<Request> = []
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

    /// What people read.
    var title: String { definition.title ?? plugin?.title ?? name }

    var isolation: Isolation {
        isIsolated ? .process : definition.isolation ?? plugin?.isolation ?? .daemon
    }

    /// How long its worker may take for one call, and a call may wait behind others.
    var callTime: Duration {
        definition.callSeconds.map { .seconds($0) } ?? domain.limits.callTime
    }

    /// Where that is set, as messages name it.
    var callSetting: String {
        definition.callSeconds == nil ? "limits.callSeconds" : "callSeconds of the component"
    }

    var reference: ComponentReference? { kind.map { ComponentReference(name: name, kind: $0) } }

    /// Whether it is loaded, and not yet part of the container.
    var isPrepared: Bool { if case .prepared = state { true } else { false } }

    /// Whether its component is a source that is asked.
    var asks: Bool { asked != nil }

    var isAttached: Bool { if case .attached = state { true } else { false } }

    /// Its list; contents components alone.
    var list: ContentIndex? { own.contents?.list }

    /// What a subject's votes add up to; nil: there are none.
    func tally(of subject: Subject) -> Tally? { own.votes?.tallies[subject] }

    /// How many comments a subject has; nil: none.
    func commentCount(of subject: Subject) -> Int? { own.comments?.counts[subject] }

    /// The number of its start, which tells callbacks of this one from those of an earlier one.
    var start: Int { progress.attempt }

    /// What calls are answered that do not wait any more, while its start shows no progress.
    var stall: String? { progress.stall }

    /// Whether no answer of the component is outstanding.
    var isIdle: Bool { inFlight.isEmpty }

    var waitingCount: Int { waiting.count + reads.count }

    /// Makes sure that what is shown of it is what its component holds, or held when it was lost.
    func checkShown() throws(HostError) {
        guard !isShown || awaitsItems else { return }
        if case .failed(let reason) = state { throw unavailable(reason, retryAfter: 5) }
        if let stall { throw unavailable(stall, retryAfter: 5) }
        if isShown { throw unavailable(loadingReason) }
    }

    /// Why it can't take part in work at present, while it is not attached.
    var absence: HostError {
        if case .failed(let reason) = state { return unavailable(reason, retryAfter: 5) }
        return unavailable(stall ?? "It is being started.")
    }

    /// Why it does not answer.
    func unavailable(_ reason: String, retryAfter: Double = 1) -> HostError {
        .componentUnavailable(component: name, reason: reason, retryAfter: retryAfter)
    }

    /// Why a query that takes long has no answer.
    var tooBusy: HostError {
        unavailable("Its items change faster than the query can be answered; ask for less.")
    }
}

// MARK: Transitions

extension Slot {
    /// Its component is to be made, for the first time or anew.
    ///
    /// - Returns: the number of this start.
    func begin() -> Int {
        release()
        state = .starting
        return progress.begin()
    }

    /// Its component is lost, and is to be made anew after a pause.
    func beginPause() { state = .starting }

    /// Its component is there, and knows nothing yet.
    func connect(_ port: any ComponentPort) {
        self.port = port
        facts = port.facts
        guard port.asks != asks else { return }
        asked?.fail(because: "It is no source that is asked any more.")
        asked = port.asks ? AskedSource(of: self) : nil
    }

    /// Its component knows all its records.
    func prepared(_ loaded: Loaded) { state = .prepared(loaded) }

    /// Its component is part of the container from now on.
    func attached() {
        state = .attached
        isShown = true
        asked?.connect()
    }

    /// Its component can't be made.
    func failed(because reason: String) {
        release()
        state = .failed(reason: reason)
        asked?.fail(because: reason)
    }

    /// It is part of its container no more, and its component goes for good.
    func close() {
        progress.end()
        release()
        state = .closed
        asked?.fail(because: "It was detached.")
    }

    /// As ``close()``, where the component was part of the container and is told so.
    func leave() {
        if isAttached { port?.pass(.willDetach) }
        let port = isAttached ? port : nil
        progress.end()
        state = .closed
        port?.pass(.didDetach)
        release()
        asked?.fail(because: "It was detached.")
    }

    /// Lets the port go, if there is one, and what its component was about.
    func release() {
        stopObserving()
        endStart()
        source = SourceState()
        asked?.disconnect(isLost: false)
        told.letGo()
        told = ToldEvents()
        progress.forgetRead()
        port?.close()
        endImages()
        // Freed here, not on another thread: a component is called from the loop alone, to its end. Of ours the
        // port has a thread free what is much.
        port = nil
        if let list = own.contents?.dropLoaded() { container?.forget(list) }
        own.filters?.forget()
    }

    /// It stands in the definition otherwise: hidden, with another title.
    func take(_ definition: ComponentDefinition) { self.definition = definition }

    /// Takes another slot's place: what waited there waits here, and what it showed is shown until this
    /// one's component tells what there is, also where its worker is lost first.
    ///
    /// - Parameters:
    ///   - old: that slot.
    ///   - showsLoaded: whether what this one has loaded may be shown before a delegate has passed it on.
    func replace(_ old: Slot, showsLoaded: Bool) {
        waiting.append(contentsOf: old.waiting)
        old.waiting.removeAll()
        reads.prepend(old.reads.removeAll())
        (callPlaces, readPlaces) = (old.callPlaces, old.readPlaces)
        guard old.kind == kind else { return }
        isShown = old.isShown
        // What a source has answered was asked of the old one.
        guard !asks else { return }
        own.goOn(from: old.own, hasSameFields: old.fields == fields, showsLoaded: showsLoaded)
    }
}

// MARK: Requests

extension Slot {
    /// Sends what could be sent but for being looked over, so that nothing that comes now overtakes it.
    func sendUnready() {
        guard waiting.contains(where: { !$0.isReady }) else { return }
        for request in waiting { request.makeReady() }
        pump()
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
            // Made anew while the caller was busy with something else.
            guard let successor = container?.slot(name), successor !== self else {
                return request.fail(gone)
            }
            return successor.enqueue(request)
        }
        if request.passesGate { return send(request) }
        if request.isQuietRead {
            if reads.isEmpty || goesFirst(request), canRun(request) { return send(request) }
            guard takePlace(for: request, in: readPlaces) else { return }
            reads.append(request, newest: domain.lastTicket)
        } else {
            if waiting.isEmpty, canRun(request) { return send(request) }
            // What waits for a commit alone is let go soon: it is not refused.
            guard takePlace(for: request, in: callPlaces, of: isOpen ? .max : nil) else { return }
            waiting.append(request)
        }
    }

    /// Has a request take one of its user's places among those that wait; false: there is none, and it has failed.
    private func takePlace(
        for request: Request, in places: WaitingPlaces, of most: Int? = nil
    ) -> Bool {
        guard !request.isOfScreen else { return true }
        do throws(WaitingPlaces.Full) {
            request.place = try places.take(
                for: request.user, of: most ?? domain.limits.waitingCalls)
            return true
        } catch {
            request.fail(unavailable(error.reason, retryAfter: 0.5))
            return false
        }
    }

    /// Sends what can be sent now.
    ///
    /// An answer given at once pumps too: it leaves the rest to the loop that it came from, so
    /// that a long queue is no deep stack. A long queue is sent in slices.
    func pump() {
        guard !isPumping, waitingCount > 0 else { return }
        isPumping = true
        defer { isPumping = false }
        if let container {
            reads.follow(oldest: container.oldestOperation(of: name), newest: domain.lastTicket)
        }
        let end = NIODeadline.now() + Domain.slice
        while let next = nextToRun() {
            send(next)
            guard NIODeadline.now() >= end else { continue }
            return domain.afterPoll { [weak self] in self?.pump() }
        }
    }

    /// Takes out what may be sent now: reads first, for whom such a moment is rare.
    private func nextToRun() -> Request? {
        if let read = reads.first, canRun(read) { return reads.removeFirst() }
        if container?.holdsCommands ?? false,
            let read = reads.removeFirst(where: { goesFirst($0) && canRun($0) })
        {
            return read
        }
        if let first = waiting.first, canRun(first) { return waiting.popFirst() }
        return nil
    }

    private func canRun(_ request: Request) -> Bool {
        guard isAttached, request.isReady, !waits.isSlow, let container else { return false }
        guard request.passesGate || !container.isGated(name) else { return false }
        guard !request.needsQuiet || container.isQuiet(name) else { return false }
        if request.isCommand, container.holdsCommands { return false }
        guard request.isQuietRead else { return !reads.hold(request) }
        return goesFirst(request) || waiting.first.map { request.number < $0.number } ?? true
    }

    /// Whether a read passes those that wait: commands are held until screens of another process are
    /// recognised, and these may have to ask first.
    private func goesFirst(_ request: Request) -> Bool {
        request.isOfScreen && container?.holdsCommands ?? false
    }

    /// Whether the component takes requests, be it after the commits that are on their way.
    private var isOpen: Bool {
        isAttached && !waits.isSlow && !(container?.isGated(name) ?? true)
    }

    private func send(_ request: Request) {
        request.place = nil
        guard container != nil else { return request.fail(gone) }
        // One that is being loaded has a port already and does not know all of its records.
        guard isAttached, let port else {
            return request.fail(unavailable("It is being started."))
        }
        request.send(to: port, of: self)
    }

    /// The component is asked: what it answers is taken in with ``arrived(_:_:)``.
    func sent(_ request: Request) {
        inFlight.append(request)
        if isolation == .process, waits.begin(at: request.number) { lookAtWaiting() }
    }

    /// Takes an answer in; false when it is none, because the worker was lost.
    func arrived(_ request: Request, _ failure: PortFailure?) -> Bool {
        guard let index = inFlight.firstIndex(where: { $0 === request }) else { return false }
        if case .died(let reason) = failure {
            lost(PortDeath(reason))
            return false
        }
        inFlight.remove(at: index)
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

// MARK: Requests that end without an answer

extension Slot {
    /// Puts what the component has not answered before all that waits, to be sent once more.
    ///
    /// - Parameter unanswered: what to put back, in order.
    func putBack(_ unanswered: Deque<Request>) {
        for request in unanswered { request.operation = nil }
        reads.prepend(unanswered.filter(\.isQuietRead))
        waiting.prepend(contentsOf: unanswered.filter { !$0.isQuietRead })
    }

    /// What the component has not answered, which is nobody's from now on.
    func takeUnanswered() -> Deque<Request> {
        defer { inFlight.removeAll() }
        return inFlight
    }

    /// Refuses all that waits.
    func refuseWaiting(_ error: HostError) {
        let refused = inFlight + waiting + reads.removeAll()
        inFlight.removeAll()
        waiting.removeAll()
        let operations = refused.compactMap(\.operation)
        for request in refused { request.fail(error) }
        container?.cancel(operations)
    }

    /// Refuses some of what waits and was not sent.
    func refuseWaiting(_ error: HostError, where isOne: (Request) -> Bool) {
        var refused = waiting.filter(isOne)
        waiting.removeAll(where: isOne)
        while let read = reads.removeFirst(where: isOne) { refused.append(read) }
        for request in refused { request.fail(error) }
    }

    /// What the component is at, as far as the slot asked for it.
    var present: Request? { inFlight.first }
}

extension Result {
    /// Why it is none.
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
