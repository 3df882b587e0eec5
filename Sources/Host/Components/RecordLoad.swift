import AtriumKit
import Dispatch
import Index
import Store

/// A list made of records that are all plain items, and the items for the component that owns the records.
struct RecordLoad {
    let list: ContentIndex
    let items: RecordItems
    /// Records that can't be decoded, which are in neither.
    let unreadable: UnreadableRecords
    /// Items in both that don't fit the fields.
    let unfit: UnfitItems

    /// Reads a component's records into a new list.
    ///
    /// The calling thread decodes the records, and another thread puts them into the list. `count` is updated as
    /// records are read.
    ///
    /// - Returns: the list and its items; nil if a record is not an item, so that the component has to read the
    ///   records itself.
    /// - Throws: `StoreError` when the file can't be read.
    static func read(
        _ container: String, _ component: String, fields: [Field], in store: Store,
        count: RecordCount
    ) throws -> RecordLoad? {
        var batched = 0
        let assembly = Assembly(fields: fields)
        var batcher: RecordBatcher?
        var (unreadable, unfit) = (UnreadableRecords(), UnfitItems())
        do {
            unreadable.difference = try store.forEachRecord(
                container: container, component: component
            ) { expected in
                batcher = RecordBatcher(fields: fields, expecting: expected)
                assembly.reserve(expected)
            } _: { key, value, sequence in
                batched += 1
                guard let value else { return unreadable.add(key.text) }
                switch try batcher?.append(key: key, value: value, revision: sequence) {
                case nil: break
                case .unreadable: unreadable.add(key.text)
                case .unfit(let problem): unfit.add(problem)
                }
                if batcher?.isFull == true, let batch = batcher?.takeBatch() {
                    count.add(batched)
                    batched = 0
                    assembly.append(batch)
                }
            }
        } catch is RecordBatcher.NotAnItem {
            _ = assembly.finish()
            return nil
        }
        guard var batcher else { return nil }
        assembly.append(batcher.takeBatch())
        let list = assembly.finish()
        assembly.loader.finish(batcher.items)
        return RecordLoad(
            list: list, items: batcher.restored, unreadable: unreadable, unfit: unfit)
    }
}

/// Builds a new list on a thread of its own.
///
/// Unchecked: the queue alone uses the list until ``finish()`` returns it.
private final class Assembly: @unchecked Sendable {
    /// The maximum number of batches that wait, so that their memory can be reused.
    private static let ahead = 16

    let loader: IndexLoader
    private let list: ContentIndex
    private let queue = DispatchQueue(label: "atrium.load", qos: .userInitiated)
    private let room = DispatchSemaphore(value: Assembly.ahead)

    init(fields: [Field]) {
        list = ContentIndex(fields: fields)
        loader = IndexLoader(list)
    }

    func reserve(_ count: Int) {
        queue.async { self.loader.reserve(count) }
    }

    /// Adds a batch; blocks while too many are waiting.
    func append(_ batch: RecordBatch) {
        room.wait()
        queue.async {
            self.loader.append(batch)
            self.room.signal()
        }
    }

    /// Returns the list once all batches are in it.
    func finish() -> ContentIndex {
        queue.sync { list }
    }
}
