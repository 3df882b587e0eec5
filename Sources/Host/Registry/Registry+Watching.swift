public import NIOCore
import Store
import Synchronization

// How far it is, and that something changed: for whoever tells an administrator.
extension Registry {
    /// How far ``load(_:)`` is.
    public func loadProgress() -> LoadProgress {
        LoadProgress(
            containers: containers.count, loaded: containers.values.count { !$0.isLoading },
            records: domain.recordsRead.value, steps: domain.steps)
    }

    /// Tells what ``status()`` says whenever it may have changed, at most once in a while.
    ///
    /// Nothing is told, and no timer runs, while nothing happens; only a store that takes no writes
    /// is looked after until it does.
    ///
    /// - Parameters:
    ///   - interval: how long to wait after a change for others that follow it.
    ///   - body: called on the loop with the status of that moment.
    public func watchStatus(
        every interval: TimeAmount, _ body: @escaping @Sendable (RegistryStatus) -> Void
    ) {
        domain.changes.watch(every: interval) { [self] in
            body(status())
            if domain.store.unavailability != nil { domain.changes.note() }
        }
    }
}

/// How far a registry has come with what its store holds.
public struct LoadProgress: Sendable, Hashable {
    /// The containers that there are.
    public var containers: Int
    /// Those whose components are all attached or have failed.
    public var loaded: Int
    /// The records that were read for components.
    public var records: Int
    /// Grows with all that is done, also between records.
    public var steps: Int
}

/// How many records were read, counted on the threads that read them.
final class RecordCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ records: Int) { count.add(records, ordering: .relaxed) }
}

/// Somebody who wants to know that something changed.
///
/// Told once for all of it that happens within a while; used on the loop alone.
final class ChangeWatch {
    private let loop: any EventLoop
    private var interval = TimeAmount.zero
    private var body: (() -> Void)?
    private var isScheduled = false

    init(loop: any EventLoop) { self.loop = loop }

    /// Has changes told.
    func watch(every interval: TimeAmount, _ body: @escaping () -> Void) {
        self.interval = interval
        self.body = body
    }

    /// Nothing is told any more.
    func end() { body = nil }

    /// Something changed.
    func note() {
        guard !isScheduled, body != nil else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: interval) {
            bound.value.isScheduled = false
            bound.value.body?()
        }
    }
}
