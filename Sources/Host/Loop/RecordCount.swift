import Synchronization

/// How many records were read; counted on the threads that read them.
final class RecordCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ records: Int) { count.add(records, ordering: .relaxed) }
}
