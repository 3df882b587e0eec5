import AtriumKit
import Dispatch
import Index
import JSONCodec
import Store

/// A list made of records, each of which is an item just as it stands; and those items, for the
/// component whose records they are.
struct RecordLoad {
    let list: ContentIndex
    let items: RecordItems
    /// Records that are in neither.
    let unreadable: UnreadableRecords
    /// Items that are in both and don't fit the fields.
    let unfit: UnfitItems

    /// Reads a component's records into a new list: on the calling thread, and on another that puts
    /// together what this one has read.
    ///
    /// The count is told of the records as they are read.
    ///
    /// - Returns: Nil when a record is not an item: the component must look at them itself.
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
        list.adopt(batcher.items)
        return RecordLoad(
            list: list, items: RecordItems(batcher.items, places: batcher.places),
            unreadable: unreadable, unfit: unfit)
    }
}

/// Puts a new list together on a thread of its own.
///
/// The list belongs to the queue until ``finish()`` gives it away: hence this may be sent.
private final class Assembly: @unchecked Sendable {
    /// How many batches may wait: memory that is used again is memory that is there.
    private static let ahead = 16

    private let list: ContentIndex
    private let queue = DispatchQueue(label: "atrium.load", qos: .userInitiated)
    private let room = DispatchSemaphore(value: Assembly.ahead)

    init(fields: [Field]) { list = ContentIndex(fields: fields) }

    func reserve(_ count: Int) {
        queue.async { self.list.reserve(count) }
    }

    /// Takes a batch; waits while too many do.
    func append(_ batch: RecordBatch) {
        room.wait()
        queue.async {
            self.list.append(batch)
            self.room.signal()
        }
    }

    /// Gives the list away, once all batches are in it.
    func finish() -> ContentIndex {
        queue.sync { list }
    }
}
