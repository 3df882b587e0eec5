/// The folded texts of a column's distinct values, one behind the other in long runs of bytes, so
/// that a search is one scan of memory and not a visit to each.
///
/// Each text ends with 0xFF, which UTF-8 never holds: nothing is found across two texts. A text
/// that goes leaves a hole; a run that is mostly holes is written anew.
struct FoldedTexts {
    private struct Run {
        var bytes: ContiguousArray<UInt8> = []
        var starts: ContiguousArray<UInt32> = []
        /// Whose text starts there; -1 for a hole.
        var owners: ContiguousArray<Int32> = []
        var holes = 0

        func range(of entry: Int) -> Range<Int> {
            let end = entry + 1 < starts.count ? Int(starts[entry + 1]) : bytes.count
            return Int(starts[entry])..<end - 1
        }

        func visitOwners(containing needle: Needle, _ body: (Int) -> Void) {
            bytes.withUnsafeBytes { bytes in
                starts.withUnsafeBufferPointer { starts in
                    var (offset, entry) = (0, 0)
                    while let position = needle.position(in: bytes, from: offset) {
                        entry = starts.lastIndex(notAfter: UInt32(position), from: entry)
                        if owners[entry] >= 0 { body(Int(owners[entry])) }
                        guard entry + 1 < starts.count else { break }
                        offset = Int(starts[entry + 1])
                    }
                }
            }
        }
    }

    private struct Place {
        var run: Int32
        var entry: Int32
    }

    private static let runLength = 1 << 20
    private static let terminator: UInt8 = 0xFF

    private var runs: [Run] = []
    private var open = 0
    private var places: ContiguousArray<Place> = []

    /// Keeps a text; the owner has none now.
    mutating func insert(_ text: [UInt8], owner: Int) {
        if runs.isEmpty || runs[open].bytes.count + text.count > FoldedTexts.runLength {
            openRun()
        }
        if owner == places.count { places.append(Place(run: 0, entry: 0)) }
        places[owner] = Place(run: Int32(open), entry: Int32(runs[open].starts.count))
        runs[open].starts.append(UInt32(runs[open].bytes.count))
        runs[open].owners.append(Int32(owner))
        runs[open].bytes.append(contentsOf: text)
        runs[open].bytes.append(FoldedTexts.terminator)
    }

    /// Forgets an owner's text.
    mutating func remove(owner: Int) {
        let place = places[owner]
        let (run, entry) = (Int(place.run), Int(place.entry))
        runs[run].owners[entry] = -1
        runs[run].holes += runs[run].range(of: entry).count + 1
        if runs[run].holes * 2 > runs[run].bytes.count { rewrite(run) }
    }

    /// Hands over an owner's text.
    @inline(__always)
    func withText<R>(of owner: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let place = places[owner]
        let range = runs[Int(place.run)].range(of: Int(place.entry))
        return runs[Int(place.run)].bytes.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
    }

    /// Whether an owner's text contains another.
    func contains(_ needle: Needle, owner: Int) -> Bool {
        withText(of: owner) { needle.position(in: $0) != nil }
    }

    /// Hands over each owner whose text contains another.
    func visitOwners(containing needle: Needle, _ body: (Int) -> Void) {
        for run in runs { run.visitOwners(containing: needle, body) }
    }

    private mutating func openRun() {
        // Runs that were written anew have room again.
        let roomy = runs.firstIndex { $0.bytes.count < FoldedTexts.runLength / 2 }
        open = roomy ?? runs.count
        if roomy == nil { runs.append(Run()) }
    }

    private mutating func rewrite(_ index: Int) {
        let old = runs[index]
        var new = Run()
        for (entry, owner) in old.owners.enumerated() where owner >= 0 {
            places[Int(owner)].entry = Int32(new.starts.count)
            new.starts.append(UInt32(new.bytes.count))
            new.owners.append(owner)
            new.bytes.append(contentsOf: old.bytes[old.range(of: entry)])
            new.bytes.append(FoldedTexts.terminator)
        }
        runs[index] = new
    }
}

extension UnsafeBufferPointer<UInt32> {
    /// Where the last element stands that is not greater, at or behind `first`: found near by in
    /// growing steps, since hits come in order.
    fileprivate func lastIndex(notAfter element: UInt32, from first: Int) -> Int {
        var (low, step) = (first, 1)
        while low + step < count, self[low + step] <= element {
            low += step
            step *= 2
        }
        var high = Swift.min(low + step, count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self[middle] <= element { low = middle } else { high = middle }
        }
        return low
    }
}
