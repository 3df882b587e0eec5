import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import Store

/// Restores what failed entries changed to what the store holds, in slices.
///
/// If the store can't be read, it is tried again each second, unless a file of it is lost or damaged: then this process
/// can't undo them any more.
final class EntryUndo {
    /// The maximum number of records that are undone at a time.
    private static let slice = 128

    private let keys: [RecordKey]
    private weak var container: Container?
    private let domain: Domain
    /// How often the store could not be read.
    private var failures = 0

    init(of keys: Set<RecordKey>, in container: Container) {
        self.keys = Array(keys)
        self.container = container
        domain = container.domain
    }

    /// Restores the records.
    ///
    /// - Parameters:
    ///   - failed: called each time that the store can't be read.
    ///   - done: called once the components have the records, and not if the container is gone by then.
    func run(failed: @escaping (HostError) -> Void, _ done: @escaping () -> Void) {
        domain.read { [keys] store in
            try stride(from: 0, to: keys.count, by: Self.slice).map { start in
                let keys = Array(keys[start..<min(start + Self.slice, keys.count)])
                // A damaged record is shown to nobody; the others are undone nevertheless.
                var damaged: [RecordKey] = []
                let records = try store.records(keys, damaged: &damaged)
                return zip(keys, records).map { key, record in
                    let value = record.flatMap { try? Value(jsonBytes: $0.value) }
                    let change = value.map { Change.put(key: key.key, value: $0) }
                    return (component: key.component, change: change ?? .removed(key: key.key))
                }
            }
        } then: { [self] result in
            guard let container else { return }
            switch result {
            case .success(let slices):
                var slices = slices[...]
                domain.slices.run {
                    guard let changes = slices.popFirst() else { return false }
                    self.undo(changes, in: container)
                    return true
                } then: {
                    done()
                }
            case .failure(let error):
                let lasting = domain.store.isDamaged ? domain.store.unavailability : nil
                let reason = lasting ?? "\(error)"
                report(reason, isLasting: lasting != nil, in: container)
                failed(
                    .storeUnavailable(
                        reason: "A change failed, and the store can't be read to roll it back: "
                            + reason, retryAfter: lasting == nil ? 1 : nil))
                guard lasting == nil else { return }
                domain.timers.after(.seconds(1)) { [self] in run(failed: failed, done) }
            }
        }
    }

    /// Logs a failure: the first, the second, the fourth and so on, so that a lasting one does not fill the journal.
    private func report(_ reason: String, isLasting: Bool, in container: Container) {
        failures += 1
        guard isLasting || failures & (failures - 1) == 0 else { return }
        domain.logger.log(.undoDelayed, ["container": "\(container.name)", "reason": "\(reason)"])
    }

    private func undo(
        _ changes: [(component: String, change: Change)], in container: Container
    ) {
        for (component, changes) in Dictionary(grouping: changes, by: \.component) {
            // A component that is being started reads the store anyway.
            guard let slot = container.slot(component), slot.isAttached else { continue }
            slot.port?.undo(changes.map(\.change))
        }
    }
}
