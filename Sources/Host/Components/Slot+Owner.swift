import AtriumKit
import Index
import JSONCodec
import Logging

// What the component does by itself.
extension Slot: PortOwner {
    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        switch message {
        case .raised(let events): raised(events, by: port)
        case .publishes(let name, let payload):
            guard isCurrent(port), let container else { return }
            container.post("plugin.\(self.name).\(name)", payload.jsonBytes)
        case .observes(let pattern): observe(pattern, for: port)
        case .logs(let level, let message):
            domain.logger.log(level: Logger.Level(level), "\(message)", metadata: logFields())
        case .reports(let problem): reports(problem, by: port)
        case .answers(let number, let result):
            if isCurrent(port) { asked?.answered(number, result) }
        case .keeps(let bytes): if isCurrent(port) { keep(bytes) }
        case .image(let number, let result): if isCurrent(port) { wasRead(number, result) }
        }
    }

    private func raised(_ events: [ComponentEvent], by port: any ComponentPort) {
        guard isCurrent(port) else { return }
        let events = own.contents.map { fitting(events, $0) } ?? events
        if isAttached {
            container?.deliverUnasked(events, from: self)
            return
        }
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

    /// What a source told, without items that don't fit the fields, which its status tells of.
    private func fitting(
        _ events: [ComponentEvent], _ contents: ContentsState
    ) -> [ComponentEvent] {
        let checker = FieldChecker(fields: fields)
        let before = contents.leftOut.problem
        let fitting = events.map { event -> ComponentEvent in
            guard case .contents(let change) = event else { return event }
            return .contents(contents.leftOut.follow(change, checker))
        }
        let problem = contents.leftOut.problem
        guard problem != before else { return fitting }
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
