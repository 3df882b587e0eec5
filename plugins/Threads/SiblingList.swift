import AtriumKit

/// Where a comment stands among its siblings: by time, then in the order of posting, then by id, so
/// that the order is total.
struct SiblingKey: Comparable {
    let created: Timestamp
    let order: Int64
    let id: String

    static func < (one: SiblingKey, other: SiblingKey) -> Bool {
        (one.created, one.order, one.id) < (other.created, other.order, other.id)
    }
}

/// The replies to one comment that people see, in order.
///
/// Sorted chunks of at most 512: a comment finds its place in logarithmic time and moves few
/// others, in whatever order the comments come.
struct SiblingList {
    private var chunks: [[SiblingKey]] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: SiblingKey? { chunks.first?.first }
    var last: SiblingKey? { chunks.last?.last }

    mutating func insert(_ key: SiblingKey) {
        guard let last, key < last else {
            if last == key { return }
            return append(key)
        }
        let chunk = chunkIndex(notBefore: key)
        let place = chunks[chunk].firstIndex(notBefore: key)
        if chunks[chunk][place] == key { return }
        chunks[chunk].insert(key, at: place)
        count += 1
        splitIfFull(chunk)
    }

    mutating func remove(_ key: SiblingKey) {
        let chunk = chunkIndex(notBefore: key)
        guard chunk < chunks.count else { return }
        let place = chunks[chunk].firstIndex(notBefore: key)
        guard chunks[chunk][place] == key else { return }
        chunks[chunk].remove(at: place)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
        count -= 1
    }

    /// The next key, whether this one is in the list or not.
    func next(after key: SiblingKey) -> SiblingKey? {
        let chunk = chunkIndex(notBefore: key)
        guard chunk < chunks.count else { return nil }
        var place = chunks[chunk].firstIndex(notBefore: key)
        if chunks[chunk][place] == key { place += 1 }
        if place < chunks[chunk].count { return chunks[chunk][place] }
        return chunk + 1 < chunks.count ? chunks[chunk + 1].first : nil
    }

    /// The previous key, whether this one is in the list or not.
    func next(before key: SiblingKey) -> SiblingKey? {
        let chunk = chunkIndex(notBefore: key)
        guard chunk < chunks.count else { return last }
        let place = chunks[chunk].firstIndex(notBefore: key)
        if place > 0 { return chunks[chunk][place - 1] }
        return chunk > 0 ? chunks[chunk - 1].last : nil
    }

    private mutating func append(_ key: SiblingKey) {
        if chunks.isEmpty { chunks.append([]) }
        chunks[chunks.count - 1].append(key)
        count += 1
        splitIfFull(chunks.count - 1)
    }

    private mutating func splitIfFull(_ chunk: Int) {
        guard chunks[chunk].count > 512 else { return }
        // Mostly the last one fills up: leave it nearly full, as nothing comes before its end.
        let middle = chunk == chunks.count - 1 ? 448 : 256
        let tail = Array(chunks[chunk][middle...])
        chunks[chunk].removeSubrange(middle...)
        chunks.insert(tail, at: chunk + 1)
    }

    /// The first chunk that ends at the key or after it.
    private func chunkIndex(notBefore key: SiblingKey) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if let last = chunks[middle].last, last < key {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

extension [SiblingKey] {
    /// Where the first element stands that is not before the key.
    fileprivate func firstIndex(notBefore key: SiblingKey) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
