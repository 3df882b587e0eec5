/// Some items on their way from their records into a new index: one thread reads, folds and hashes
/// them, another puts them together.
///
/// One thread writes it and then passes it to the other; they never share it: hence it may be sent.
package final class RecordBatch: @unchecked Sendable {
    /// The values that the table of rows keeps of an item.
    struct ItemEntry {
        var place: ItemPlace
        var revision: Int64
        var head: UInt64
        var hash: UInt32
        var hasParent: Bool
    }

    /// The values of one field.
    final class Column {
        /// A text of one row.
        struct Text {
            var row: UInt32
            var hash: UInt32
            /// The start of the text in ``bytes``, where its folded form follows it.
            var start: UInt32
            var length: UInt32
            var foldedLength: UInt32
        }

        /// The number of each row, NaN for a row without one; empty for a column of texts.
        var numbers: ContiguousArray<Double> = []
        /// The rows' texts, in their order.
        var texts: ContiguousArray<Text> = []
        var bytes: ContiguousArray<UInt8> = []

        /// Calls the body with a text and its folded form.
        @inline(__always)
        func withBytes<R>(
            of text: Text,
            _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> R
        ) -> R {
            bytes.withUnsafeBufferPointer { bytes in
                let (start, end) = (Int(text.start), Int(text.start + text.length))
                return body(
                    UnsafeBufferPointer(rebasing: bytes[start..<end]),
                    UnsafeBufferPointer(rebasing: bytes[end..<end + Int(text.foldedLength)]))
            }
        }

        func append(_ text: UnsafeBufferPointer<UInt8>, row: Int) {
            let start = bytes.count
            bytes.append(contentsOf: text)
            Folding.withFolded(text) { bytes.append(contentsOf: $0) }
            texts.append(
                Text(
                    row: UInt32(row), hash: HashedSlots.textHash(text), start: UInt32(start),
                    length: UInt32(text.count),
                    foldedLength: UInt32(bytes.count - start - text.count)))
        }
    }

    /// The maximum number of items.
    static let length = 1_024

    /// The items, in the order of their rows.
    var items: ContiguousArray<ItemEntry> = []
    /// The values of the declared fields, by their columns' numbers.
    let columns: [Column]

    /// Creates an empty batch for items of this many fields.
    init(fields: Int) {
        columns = (0..<fields).map { _ in Column() }
        items.reserveCapacity(RecordBatch.length)
    }
}
