import AtriumKit
import Index
import Logging

/// Handles what a slot's component sends without being asked, and the end of its worker.
///
/// Changes are delivered in the order in which they were reported: small amounts at once, larger ones in slices, with
/// the messages between them. The worker is paused meanwhile, because everything that is queued takes memory.
final class ComponentReports: PortOwner {
    private weak var slot: Slot?
    /// The changes and messages that are still to be delivered.
    private var queue = ReportedEvents()
    /// The patterns that the component observes; nil: none.
    private var observer: ObserverID?

    init(of slot: Slot) { self.slot = slot }

    /// Whether something that was reported is still to be delivered.
    var areWaiting: Bool { queue.isWaiting }

    /// Records the events of a commit, which the component decided on at this number of the domain.
    func recordCommitted(_ events: [ComponentEvent], at ticket: UInt64) {
        queue.recordCommitted(events, at: ticket)
    }

    /// Delivers what an attached component reported by itself.
    func deliver(_ events: [ComponentEvent]) {
        guard let slot, !events.isEmpty else { return }
        guard queue.isWaiting || events.isMany else {
            return deliver(events, of: slot, endsItems: events.contains(where: \.isOfSomeItems))
        }
        deliverInSlices([events], of: slot)
    }

    /// Delivers what the component reported before it was attached.
    func deliver(early reports: [[ComponentEvent]]) {
        guard reports.count > 1 else { return deliver(reports.first ?? []) }
        if let slot { deliverInSlices(reports, of: slot) }
    }

    /// Drops what is still to be delivered, and observes nothing any more.
    func end() {
        if let observer { slot?.domain.bus.stopObserving(observer) }
        observer = nil
        queue.clear()
        queue = ReportedEvents()
    }

    // MARK: The port's owner

    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        guard let slot else { return }
        let isCurrent = slot.port === port
        switch message {
        case .raised(let events): if isCurrent { raised(events, by: port, slot) }
        case .observes(let pattern):
            // A port may send messages before its launcher returns it.
            if isCurrent || slot.port == nil { observe(pattern, slot) }
        case .logs(let level, let message):
            slot.domain.logger.log(
                level: Logger.Level(level), "\(message)", metadata: slot.logFields())
        case .keeps(let bytes): if isCurrent { slot.kept.write(bytes) }
        case .image(let number, let result): if isCurrent { slot.images.ended(number, result) }
        case .publishes, .reports, .answers:
            guard isCurrent else { return }
            // Kept in order: the receiver may look at items that were reported earlier and are still queued.
            if queue.isWaiting { queue.append(message) } else { handle(message, slot) }
        }
    }

    func port(_ port: any ComponentPort, died death: PortDeath) {
        guard let slot, slot.port === port else { return }
        slot.restart(after: death)
    }

    func port(_ port: any ComponentPort, itemWith id: String) -> Item? {
        guard let slot, slot.port === port else { return nil }
        return slot.container?.item(id)
    }

    /// Handles a message that keeps its place among the changes that the component reports.
    private func handle(_ message: ComponentMessage, _ slot: Slot) {
        switch message {
        case .publishes(let name, let payload):
            slot.container?.post(
                "plugin.\(slot.name).\(name)", payload.jsonBytes, restricted: nil)
        case .reports(let problem): slot.source.reports(problem)
        case .answers(let number, let result): slot.asked?.answered(number, result)
        case .raised, .observes, .logs, .keeps, .image: break
        }
    }

    private func observe(_ pattern: String, _ slot: Slot) {
        guard let pattern = try? TopicPattern(pattern) else { return }
        let bus = slot.domain.bus
        if let observer { return bus.observe(pattern, by: observer) }
        observer = bus.observe(pattern) { [weak slot] notification in
            slot?.port?.deliver(notification)
        }
    }
}

// MARK: Before the component is attached

extension ComponentReports {
    private func raised(_ events: [ComponentEvent], by port: any ComponentPort, _ slot: Slot) {
        if slot.isAttached { return deliver(events) }
        slot.start.early.keep(events)
        guard events.isMany else {
            _ = charge(events, to: slot)
            return
        }
        // Pauses the worker meanwhile, so that it sends no more than is charged.
        port.setReadingPaused(true)
        var parts = EventParts(events, of: .count(ReportedEvents.piece))
        let attempt = slot.start.attempt
        slot.domain.slices.run { [weak self, weak slot] in
            guard let self, let slot, slot.start.attempt == attempt, !slot.isAttached,
                !parts.isOver
            else { return false }
            return charge(parts.next(), to: slot)
        } then: {
            port.setReadingPaused(false)
        }
    }

    /// Charges events that the component sent before it was attached, and returns whether there was room for them; if
    /// not, the component is lost.
    private func charge(_ events: [ComponentEvent], to slot: Slot) -> Bool {
        let limit = slot.domain.limits.earlyBytes
        guard !slot.start.early.charge(events, atMost: limit) else { return true }
        let attempt = slot.start.attempt
        // Later, because this may run inside a call to the component.
        slot.domain.timers.later { [weak slot] in
            guard let slot, slot.start.attempt == attempt else { return }
            slot.restart(
                because:
                    "It reported more than \(limit) bytes of changes before it was part of its "
                    + "container (earlyBytes).")
        }
        return false
    }
}

// MARK: Delivery

extension ComponentReports {
    private func deliverInSlices(_ reports: [[ComponentEvent]], of slot: Slot) {
        for events in reports { queue.append(events, at: slot.domain.nextTicket()) }
        guard queue.begin() else { return }
        slot.port?.setReadingPaused(true)
        let (queue, attempt) = (self.queue, slot.start.attempt)
        slot.domain.slices.run { [weak self, weak slot] in
            guard let self, let slot, slot.start.attempt == attempt, self.queue === queue else {
                return false
            }
            switch queue.next() {
            case .events(let events, let endsItems):
                deliver(events, of: slot, endsItems: endsItems)
            case .message(let message): handle(message, slot)
            case nil: return false
            }
            return true
        } then: { [weak self, weak slot] in
            guard let self, let slot, slot.start.attempt == attempt, self.queue === queue else {
                return
            }
            queue.end()
            slot.port?.setReadingPaused(false)
        }
    }

    /// Delivers some of the events that the component reported; `endsItems`: they include the last of the items that
    /// were reported together.
    private func deliver(_ events: [ComponentEvent], of slot: Slot, endsItems: Bool) {
        if let problem = slot.port?.problem(in: events) {
            let reason = "What it reported by itself is dropped: \(problem)."
            slot.domain.logger.error("\(reason)", metadata: slot.logFields())
            return
        }
        let events = slot.own.contents.map { fitting(events, $0, slot) } ?? events
        slot.container?.deliverUnasked(events, from: slot)
        // Not for `replaceAll`: its items have to be requested from the component first.
        if endsItems { slot.container?.itemsChanged(in: slot) }
    }

    /// The events without items that don't fit the fields; the component's status names those.
    private func fitting(
        _ events: [ComponentEvent], _ contents: ContentsState, _ slot: Slot
    ) -> [ComponentEvent] {
        let checker = FieldChecker(fields: slot.fields)
        let before = contents.leftOut.problem
        contents.leftOut.begin()
        let fitting = events.map { event -> ComponentEvent in
            guard case .contents(let change) = event else { return event }
            return .contents(contents.leftOut.follow(change, checker))
        }
        guard contents.leftOut.end() else { return fitting }
        let problem = contents.leftOut.problem
        if before == nil, let problem {
            slot.domain.logger.warning(
                "items don't fit the fields",
                metadata: slot.logFields(["reason": "It \(problem)."]))
        }
        slot.container?.structureChanged()
        return fitting
    }
}

extension Logger.Level {
    init(_ level: LogLevel) {
        self =
            switch level {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            @unknown default: .info
            }
    }
}
