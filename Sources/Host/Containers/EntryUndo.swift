import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import Store

/// Restores what failed entries changed to what the store holds, in slices.
///
/// If the store can't be read, it is tried again each second.
final class EntryUndo {
    /// The maximum number of records that are undone at a time.
    private static let slice = 128

    private let keys: [RecordKey]
    private weak var container: Container?
    private let domain: Domain

    init(of keys: Set<RecordKey>, in container: Container) {
        self.keys = Array(keys)
        self.container = container
        domain = container.domain
    }

    /// Restores the records; `done` is called once the components have them, and not if the container is gone by
    /// then.
    func run(_ done: @escaping () -> Void) {
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
                domain.logger.log(
                    .undoDelayed, ["container": "\(container.name)", "reason": "\(error)"])
                domain.timers.after(.seconds(1)) { [self] in run(done) }
            }
        }
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
