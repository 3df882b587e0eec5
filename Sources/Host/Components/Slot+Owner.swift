import AtriumKit
import Index
import JSONCodec
import Logging

// What the component does by itself.
extension Slot: PortOwner {
    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        switch message {
        case .raised(let events): raised(events, by: port)
        case .observes(let pattern): observe(pattern, for: port)
        case .logs(let level, let message):
            domain.logger.log(level: Logger.Level(level), "\(message)", metadata: logFields())
        case .keeps(let bytes): if isCurrent(port) { keep(bytes) }
        case .image(let number, let result): if isCurrent(port) { wasRead(number, result) }
        case .publishes, .reports, .answers:
            guard isCurrent(port) else { return }
            // Who hears of it may look at the items that were told before.
            if told.isWaiting { told.append(message) } else { take(message) }
        }
    }

    /// Takes what keeps its place among the changes that the component tells.
    private func take(_ message: ComponentMessage) {
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
        if isAttached { return tell(events) }
        let limit = domain.limits.earlyBytes
        guard !progress.take(events, atMost: limit) else { return }
        let attempt = start
        // Not inside of what the component is just asked.
        domain.later { [weak self] in
            guard let self, start == attempt else { return }
            lost(
                PortDeath(
                    "It told more than \(limit) bytes of changes before it was part of its "
                        + "container (earlyBytes).", wasAtRequest: false))
        }
    }

    /// Takes what an attached component told its delegate by itself: at once where it is little, else in slices,
    /// behind which everything waits that it tells later.
    func tell(_ events: [ComponentEvent]) {
        guard !events.isEmpty else { return }
        guard told.isWaiting || events.isMany else {
            return deliver(events, endsItems: events.contains(where: \.isOfSomeItems))
        }
        told.append(events, at: domain.nextTicket())
        guard told.begin() else { return }
        // A worker says no more meanwhile: what waits takes memory.
        port?.hold(true)
        let (told, attempt) = (self.told, start)
        domain.inSlices { [weak self] in
            guard let self, start == attempt, self.told === told else { return false }
            switch told.next() {
            case .events(let events, let endsItems): deliver(events, endsItems: endsItems)
            case .message(let message): take(message)
            case nil: return false
            }
            return true
        } then: { [weak self] in
            guard let self, start == attempt, self.told === told else { return }
            told.end()
            port?.hold(false)
        }
    }

    /// Delivers some of what the component told.
    ///
    /// - Parameters:
    ///   - events: what it told.
    ///   - endsItems: whether it is the last of items that it told of at once.
    private func deliver(_ events: [ComponentEvent], endsItems: Bool) {
        if let problem = port?.problem(in: events) {
            let reason = "What it told by itself is dropped: \(problem)."
            domain.logger.error("\(reason)", metadata: logFields())
            return
        }
        let events = own.contents.map { fitting(events, $0) } ?? events
        container?.deliverUnasked(events, from: self)
        // All items anew are asked for first.
        if endsItems { container?.itemsChanged(in: self) }
    }

    /// What a source told, without items that don't fit the fields, which its status tells of.
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
        // A port may speak before its launcher hands it over.
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
        lost(death)
    }

    private func isCurrent(_ port: any ComponentPort) -> Bool { self.port === port }
}

extension Logger.Level {
    /// The level as the host's log knows it.
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
