/// Handle of a timer, watch or background task.
///
/// Dropping it does not cancel it. Used on the serial domain only.
public final class Wakeup {
    private var end: (() -> Void)?
    private let count: (Int) -> Void

    init(_ count: @escaping (Int) -> Void) {
        self.count = count
        count(1)
    }

    /// Whether its handler may still be called.
    public private(set) var isActive = true

    /// Cancels it: the handler is not called any more.
    ///
    /// Cancelling twice has no further effect.
    public func cancel() {
        let end = end
        finish()
        end?()
    }

    func set(_ end: @escaping () -> Void) { self.end = end }

    func finish() {
        guard isActive else { return }
        isActive = false
        end = nil
        count(-1)
    }
}

/// The number of timers and watches of a component.
final class WakeupCount {
    var timers = 0
    var watches = 0
}

extension ComponentContext {
    /// The maximum number of timers of a component.
    public static let mostTimers = 64
    /// The maximum number of watches of a component.
    public static let mostWatches = 10_000
    /// The shortest and the longest time of a timer.
    public static let intervals = Duration.milliseconds(100)...Duration.seconds(365 * 86_400)

    /// Calls the handler on the domain once, after a time, unless the component is detached before.
    ///
    /// - Parameters:
    ///   - delay: at least 100 ms, at most 365 days.
    ///   - handler: what to call; it may call the delegate.
    /// - Returns: a handle that cancels the timer.
    /// - Throws: a ``Refusal`` for another delay, and for more than 64 timers.
    @discardableResult
    public func after(
        _ delay: Duration, _ handler: @escaping () -> Void
    ) throws(Refusal) -> Wakeup {
        let timer = try timer(delay)
        timer.set(
            services.schedule(after: delay, repeats: false) {
                timer.finish()
                handler()
            })
        return timer
    }

    /// Calls the handler on the domain repeatedly, until the component is detached.
    ///
    /// The interval begins when the handler has returned. A process that wakes often costs power: to follow files, use
    /// ``watch(_:_:)``; to poll only while screens show the component, see ``Component/didChangeAudience(_:)``.
    ///
    /// - Parameters:
    ///   - interval: at least 100 ms, at most 365 days; the first call comes after one interval.
    ///   - handler: what to call; it may call the delegate.
    /// - Returns: a handle that cancels the timer.
    /// - Throws: a ``Refusal`` for another interval, and for more than 64 timers.
    @discardableResult
    public func every(
        _ interval: Duration, _ handler: @escaping () -> Void
    ) throws(Refusal) -> Wakeup {
        let timer = try timer(interval)
        timer.set(services.schedule(after: interval, repeats: true, handler))
        return timer
    }

    /// Calls the handler on the domain when a file is written, replaced or removed, or an entry of a folder is, until
    /// the component is detached.
    ///
    /// Changes within 100 ms cause one call. The file need not exist yet, but its folder must. The target of a symbolic
    /// link is not watched. In a worker, watch a folder rather than a file that other programs replace: the worker may
    /// read only the file that existed at its start, not its replacement.
    /// - Parameters:
    ///   - path: absolute; in a worker a path that it may read, such as a setting of type `path` that the plugin's
    ///     manifest names under `paths`.
    ///   - handler: what to call; it may call the delegate. It reads the file in ``background(_:then:)``.
    /// - Returns: a handle that ends the watch.
    /// - Throws: a ``Refusal`` if the path can't be watched, with the reason, and for more than 10,000 watches.
    @discardableResult
    public func watch(
        _ path: String, _ handler: @escaping () -> Void
    ) throws(Refusal) -> Wakeup {
        guard wakeups.watches < Self.mostWatches else {
            throw tooMany("watches", Self.mostWatches)
        }
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count < 4_096 else {
            throw Refusal(
                "'\(path.prefix(200))' can't be watched: a path begins with '/', and has at most 4,095 "
                    + "bytes, none of them 0.")
        }
        let end = try services.watch(path, handler)
        let watch = Wakeup { [wakeups] in wakeups.watches += $0 }
        watch.set(end)
        return watch
    }

    private func timer(_ time: Duration) throws(Refusal) -> Wakeup {
        guard wakeups.timers < Self.mostTimers else { throw tooMany("timers", Self.mostTimers) }
        guard Self.intervals.contains(time) else {
            throw Refusal(
                .limitExceeded,
                "A timer of \(time) can't be set: it takes 100 ms at least and 365 days at most.",
                evidence: ["limit": "interval", "value": "\(time)"])
        }
        return Wakeup { [wakeups] in wakeups.timers += $0 }
    }

    private func tooMany(_ what: String, _ most: Int) -> Refusal {
        Refusal(
            .limitExceeded,
            "The component '\(component)' has \(most) \(what), which is the most; cancel one first.",
            evidence: ["limit": what, "value": "\(most)"])
    }
}
