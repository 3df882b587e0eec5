/// Sorts rows by a number of each, those with the same number staying in the order they are in.
enum RadixSort {
    private struct Entry {
        var key: UInt64
        var row: Int32
    }

    private static let bits: UInt64 = 11

    /// The rows, ascending by the keys, which are given by row; a row behind the last key has the
    /// greatest.
    static func sorted(
        _ rows: ContiguousArray<Int32>, by keys: ContiguousArray<UInt64>
    ) -> ContiguousArray<Int32> {
        var entries = ContiguousArray(
            rows.lazy.map { row in
                Entry(key: Int(row) < keys.count ? keys[Int(row)] : .max, row: row)
            })
        guard let first = entries.first?.key else { return [] }
        // Digits in which all agree need no pass.
        let differing = entries.reduce(0) { $0 | ($1.key ^ first) }
        var spare = entries
        for shift in stride(from: UInt64(0), to: 64, by: Int(bits))
        where differing >> shift & (1 << bits - 1) != 0 {
            pass(from: entries, into: &spare, shift: shift)
            swap(&entries, &spare)
        }
        return ContiguousArray(entries.lazy.map(\.row))
    }

    private static func pass(
        from entries: ContiguousArray<Entry>, into sorted: inout ContiguousArray<Entry>,
        shift: UInt64
    ) {
        let mask: UInt64 = 1 << bits - 1
        var places = ContiguousArray(repeating: 0, count: 1 << Int(bits))
        entries.withUnsafeBufferPointer { entries in
            for entry in entries { places[Int(entry.key >> shift & mask)] += 1 }
            var sum = 0
            for digit in places.indices { (places[digit], sum) = (sum, sum + places[digit]) }
            sorted.withUnsafeMutableBufferPointer { sorted in
                places.withUnsafeMutableBufferPointer { places in
                    for entry in entries {
                        let digit = Int(entry.key >> shift & mask)
                        sorted[places[digit]] = entry
                        places[digit] += 1
                    }
                }
            }
        }
    }
}
