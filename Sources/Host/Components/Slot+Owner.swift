import AtriumKit
import Index
import JSONCodec
import Logging

// What a component sends without being asked.
extension Slot: PortOwner {
    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        switch message {
        case .raised(let events): raised(events, by: port)
        case .observes(let pattern): observe(pattern, for: port)
        case .logs(let level, let message):
            domain.logger.log(level: Logger.Level(level), "\(message)", metadata: logFields())
        case .keeps(let bytes): if isCurrent(port) { kept.write(bytes) }
        case .image(let number, let result): if isCurrent(port) { images.ended(number, result) }
        case .publishes, .reports, .answers:
            guard isCurrent(port) else { return }
            // Kept in order: the receiver may look at items that were reported earlier and are still queued.
            if reported.isWaiting { reported.append(message) } else { handle(message) }
        }
    }

    /// Handles a message that keeps its place among the changes that the component reports.
    private func handle(_ message: ComponentMessage) {
        switch message {
        case .publishes(let name, let payload):
            container?.post("plugin.\(self.name).\(name)", payload.jsonBytes)
        case .reports(let problem): reports(problem)
        case .answers(let number, let result): asked?.answered(number, result)
        case .raised, .observes, .logs, .keeps, .image: break
        }
    }

    private func raised(_ events: [ComponentEvent], by port: any ComponentPort) {
        guard isCurrent(port) else { return }
        if isAttached { return report(events) }
        start.early.keep(events)
        guard events.isMany else {
            _ = charge(events)
            return
        }
        // Pauses the worker meanwhile, so that it sends no more than is charged.
        port.setReadingPaused(true)
        var parts = EventParts(events, of: .count(ReportedEvents.piece))
        let attempt = start.attempt
        domain.slices.run { [weak self] in
            guard let self, start.attempt == attempt, !isAttached, !parts.isOver else {
                return false
            }
            return charge(parts.next())
        } then: {
            port.setReadingPaused(false)
        }
    }

    /// Charges events that the component sent before it was attached; if there are too many, the component is lost.
    ///
    /// - Returns: whether there was room for them.
    private func charge(_ events: [ComponentEvent]) -> Bool {
        let limit = domain.limits.earlyBytes
        guard !start.early.charge(events, atMost: limit) else { return true }
        let attempt = start.attempt
        // Later, because this may run inside a call to the component.
        domain.timers.later { [weak self] in
            guard let self, start.attempt == attempt else { return }
            restart(
                after: PortDeath(
                    "It reported more than \(limit) bytes of changes before it was part of its "
                        + "container (earlyBytes).", wasAtRequest: false))
        }
        return false
    }

    /// Delivers what an attached component reported by itself: small amounts at once, larger ones in slices.
    ///
    /// Later reports of the component are queued behind them.
    func report(_ events: [ComponentEvent]) {
        guard !events.isEmpty else { return }
        guard reported.isWaiting || events.isMany else {
            return deliver(events, endsItems: events.contains(where: \.isOfSomeItems))
        }
        deliverInSlices([events])
    }

    /// Delivers what the component reported before it was attached.
    func report(early reports: [[ComponentEvent]]) {
        guard reports.count > 1 else { return report(reports.first ?? []) }
        deliverInSlices(reports)
    }

    private func deliverInSlices(_ reports: [[ComponentEvent]]) {
        for events in reports { reported.append(events, at: domain.nextTicket()) }
        guard reported.begin() else { return }
        // Pauses the worker meanwhile, because everything that is queued takes memory.
        port?.setReadingPaused(true)
        let (reported, attempt) = (self.reported, start.attempt)
        domain.slices.run { [weak self] in
            guard let self, start.attempt == attempt, self.reported === reported else {
                return false
            }
            switch reported.next() {
            case .events(let events, let endsItems): deliver(events, endsItems: endsItems)
            case .message(let message): handle(message)
            case nil: return false
            }
            return true
        } then: { [weak self] in
            guard let self, start.attempt == attempt, self.reported === reported else { return }
            reported.end()
            port?.setReadingPaused(false)
        }
    }

    /// Delivers some of the events that the component reported.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - endsItems: whether they include the last of the items that were reported together.
    private func deliver(_ events: [ComponentEvent], endsItems: Bool) {
        if let problem = port?.problem(in: events) {
            let reason = "What it reported by itself is dropped: \(problem)."
            domain.logger.error("\(reason)", metadata: logFields())
            return
        }
        let events = own.contents.map { fitting(events, $0) } ?? events
        container?.deliverUnasked(events, from: self)
        // Not for `replaceAll`: its items have to be requested from the component first.
        if endsItems { container?.itemsChanged(in: self) }
    }

    /// The events without items that don't fit the fields; the component's status names those.
    private func fitting(
        _ events: [ComponentEvent], _ contents: ContentsState
    ) -> [ComponentEvent] {
        let checker = FieldChecker(fields: fields)
        let before = contents.leftOut.problem
        contents.leftOut.begin()
        let fitting = events.map { event -> ComponentEvent in
            guard case .contents(let change) = event else { return event }
            return .contents(contents.leftOut.follow(change, checker))
        }
        guard contents.leftOut.end() else { return fitting }
        let problem = contents.leftOut.problem
        if before == nil, let problem {
            domain.logger.warning(
                "items don't fit the fields", metadata: logFields(["reason": "It \(problem)."]))
        }
        container?.structureChanged()
        return fitting
    }

    private func observe(_ pattern: String, for port: any ComponentPort) {
        // A port may send messages before its launcher returns it.
        guard self.port == nil || isCurrent(port) else { return }
        guard let pattern = try? TopicPattern(pattern) else { return }
        if let observer { return domain.bus.observe(pattern, by: observer) }
        observer = domain.bus.observe(pattern) { [weak self] notification in
            self?.port?.deliver(notification)
        }
    }

    func stopObserving() {
        if let observer { domain.bus.stopObserving(observer) }
        observer = nil
    }

    func port(_ port: any ComponentPort, died death: PortDeath) {
        guard isCurrent(port) else { return }
        restart(after: death)
    }

    func port(_ port: any ComponentPort, itemWith id: String) -> Item? {
        isCurrent(port) ? container?.item(id) : nil
    }

    private func isCurrent(_ port: any ComponentPort) -> Bool { self.port === port }
}

extension Logger.Level {
    /// Converts a component's log level to the host's.
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
