import AtriumKit

/// The first start of a container's components, which calls wait for.
final class Loading {
    /// Whether calls wait for the first start of the components.
    private(set) var isUnderWay = false
    private unowned let container: Container
    private var permits = WaitPermits()
    private var waiting: [() -> Void] = []

    init(of container: Container) { self.container = container }

    /// Makes calls wait from now on, until ``run()`` has started the components.
    func begin() { isUnderWay = true }

    /// Starts all components.
    func run() {
        for slot in container.slots { slot.start.run {} }
        endIfDone()
    }

    /// Calls back once no component is worth waiting for: each is attached, has failed or is stalled.
    func whenOver(_ body: @escaping () -> Void) {
        if isUnderWay { waiting.append(body) } else { body() }
    }

    /// Makes a user's call wait as ``whenOver(_:)`` does; refuses it if too many are waiting.
    func whenOver<T>(
        of user: String, _ reply: @escaping Answer<T>, _ body: @escaping () -> Void
    ) {
        do throws(WaitPermits.Full) {
            let permit = try permits.acquire(for: user, of: container.domain.limits.waitingCalls)
            whenOver { withExtendedLifetime(permit, body) }
        } catch {
            let pending = container.slots.first(where: \.start.isWorthWaitingFor)?.name
            reply(
                .failure(
                    .componentUnavailable(
                        component: pending ?? container.name,
                        reason: "It is being started. \(error.reason)", retryAfter: 0.5)))
        }
    }

    /// Ends the wait if no component is worth waiting for any more.
    func endIfDone() {
        guard isUnderWay,
            !container.slots.contains(where: {
                $0.start.isWorthWaitingFor || $0.source.isAwaitingItems
            })
        else { return }
        let callbacks = waiting
        (isUnderWay, waiting, permits) = (false, [], WaitPermits())
        // The callbacks use the components that are attached by now.
        for body in callbacks { body() }
    }
}

/// The way of a loaded component into its container, in slices if its state is large.
///
/// The order: `willAttach`, delivery of its items, tallies and counts, `didAttach`; then the requests that wait for it
/// are sent. A component that is lost meanwhile is restarted.
final class Attachment {
    private let slot: Slot
    private let container: Container
    /// The slot's start: if there is another one meanwhile, this ends.
    private let attempt: Int
    private let done: () -> Void

    init(of slot: Slot, in container: Container, then done: @escaping () -> Void) {
        (self.slot, self.container, self.done) = (slot, container, done)
        attempt = slot.start.attempt
    }

    func run() {
        guard case .prepared(let loaded) = slot.state, let port = slot.port else {
            // The component was lost after its load.
            slot.start.restartUnattached()
            return done()
        }
        container.derived.follow()
        port.notify(.willAttach)
        deliverItems(of: loaded) { [self] in deliverState(of: loaded, port) }
    }

    /// Delivers all items of a contents component, in pieces.
    ///
    /// If the delegate passes all of them on unchanged, the list that the load has filled is used.
    private func deliverItems(of loaded: Loaded, then done: @escaping () -> Void) {
        guard slot.own.contents == nil || loaded.items != nil || loaded.state.items != nil else {
            // A source that is loading or is asked: the items that are shown stay.
            return slot.asks ? beginAsking(then: done) : done()
        }
        guard slot.kind == .contents, !container.delegates.isDefault else {
            // The default wiring uses the list as it is; any other delegate is called with all items.
            slot.own.contents?.markKnown()
            slot.own.contents?.takeLoaded().map(container.derived.endFilling)
            return done()
        }
        container.fillings.fill(slot, with: loaded.list) { [self] in
            if slot.start.attempt == attempt { slot.own.contents?.markKnown() }
            done()
        }
    }

    /// Fills the derived fields of a source that is asked; such a source never reports its items, so no one waits for
    /// that.
    private func beginAsking(then done: @escaping () -> Void) {
        guard let contents = slot.own.contents, !contents.isKnown else { return done() }
        contents.markKnown()
        let list = contents.list
        let filled = { [container] in
            container.derived.endFilling(list)
            done()
        }
        // Never cancelled, because others wait for its end.
        container.derived.fill(list, while: { true }, then: filled)
    }

    /// Delivers all tallies and counts of the component, and attaches it.
    private func deliverState(of loaded: Loaded, _ port: any ComponentPort) {
        let delivery = StateDelivery(loaded.state.events, to: slot)
        container.domain.slices.run { [self] in
            guard slot.start.attempt == attempt, let events = delivery.next() else { return false }
            // Not to the delegates of containers that have this one as a part: nothing has changed.
            if let from = slot.reference {
                for event in events { container.delivery.deliver(event, from) }
            }
            return true
        } then: { [self] in
            guard slot.start.attempt == attempt, slot.port === port else {
                // It was lost meanwhile, and nothing else restarts it.
                if case .prepared = slot.state { slot.start.restartUnattached() }
                return done()
            }
            port.notify(.didAttach)
            slot.attached()
            loaded.state.freeInBackground()
            slot.reports.deliver(early: slot.start.early.takeAll())
            slot.source.awaitItems()
            container.screens?.countAudience()
            if slot.kind == .votes { container.screens?.ballotsChanged() }
            container.structureChanged()
            container.startsChanged()
            done()
            container.pump()
        }
    }
}
