/// A timer or a watch that was set, or work in the background; it goes on when nobody keeps this.
///
/// Used on the serial domain alone.
public final class Wakeup {
    private var end: (() -> Void)?
    private let count: (Int) -> Void

    init(_ count: @escaping (Int) -> Void) {
        self.count = count
        count(1)
    }

    /// Whether its handler may still be called.
    public private(set) var isActive = true

    /// Ends it: the handler is not called any more.
    ///
    /// Ending it twice does nothing.
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

/// How many timers and watches a component has.
final class WakeupCount {
    var timers = 0
    var watches = 0
}

extension ComponentContext {
    /// How many timers a component may have at a time.
    public static let mostTimers = 64
    /// How many watches a component may have at a time.
    public static let mostWatches = 10_000
    /// The shortest time that a timer may have, and the longest.
    public static let intervals = Duration.milliseconds(100)...Duration.seconds(365 * 86_400)

    /// Calls the handler on the domain once, after a time; not after the component is detached.
    ///
    /// - Parameters:
    ///   - delay: at least 100 ms, at most 365 days.
    ///   - handler: what to call; it may call the delegate.
    /// - Returns: what cancels it.
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

    /// Calls the handler on the domain again and again, until the component is detached: each time so
    /// long after it has returned.
    ///
    /// A process that is woken often costs power: where files change, ``watch(_:_:)`` them; where people
    /// look, see ``Component/didChangeAudience(_:)``.
    ///
    /// - Parameters:
    ///   - interval: at least 100 ms, at most 365 days; the first call comes after one.
    ///   - handler: what to call; it may call the delegate.
    /// - Returns: what cancels it.
    /// - Throws: a ``Refusal`` for another interval, and for more than 64 timers.
    @discardableResult
    public func every(
        _ interval: Duration, _ handler: @escaping () -> Void
    ) throws(Refusal) -> Wakeup {
        let timer = try timer(interval)
        timer.set(services.schedule(after: interval, repeats: true, handler))
        return timer
    }

    /// Calls the handler on the domain when a file was written, put in place of another, or removed; or,
    /// of a folder, something right in it, until the component is detached.
    ///
    /// What happens within 100 ms is one call. A file may be yet to come, in a folder that is there. What
    /// a link leads to is not watched. In a worker, name a folder rather than a file that others replace:
    /// it is let read the file that was there at its start, and not what took its place.
    ///
    /// - Parameters:
    ///   - path: absolute; in a worker one that it may read, such as a setting of type `path` that the
    ///     plugin's manifest names under `paths`.
    ///   - handler: what to call; it may call the delegate. It reads the file in ``background(_:then:)``.
    /// - Returns: what cancels it.
    /// - Throws: a ``Refusal`` that says why it can't be watched, and for more than 10,000 watches.
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
