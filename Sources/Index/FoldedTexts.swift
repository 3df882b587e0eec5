/// The folded texts of a column's distinct values, one behind the other in long runs of bytes.
///
/// A search is then one scan of memory and not a visit to each text, and reads only the memory where the text may be
/// according to the ``TextSignatures``.
///
/// Each text ends with 0xFF, which UTF-8 never contains, so nothing is found across two texts. A removed text leaves a
/// hole; a run that is mostly holes is written anew. The original texts are stored beside them in the same order.
final class FoldedTexts {
    private struct Run {
        var bytes: ContiguousArray<UInt8> = []
        var starts: ContiguousArray<UInt32> = []
        /// The texts as they are.
        var originals: ContiguousArray<UInt8> = []
        /// The start of each original text; empty while all are as long as their folded forms, as those of ASCII are.
        var originalStarts: ContiguousArray<UInt32> = []
        /// The owner of the text that starts at each place; -1 for a hole.
        var owners: ContiguousArray<Int32> = []
        var holes = 0
        var signatures = TextSignatures()

        /// The number of bytes by which its size is limited.
        var length: Int { max(bytes.count, originals.count) }

        func range(of entry: Int) -> Range<Int> {
            let end = entry + 1 < starts.count ? Int(starts[entry + 1]) : bytes.count
            return Int(starts[entry])..<end - 1
        }

        func originalRange(of entry: Int) -> Range<Int> {
            guard !originalStarts.isEmpty else {
                let folded = range(of: entry)
                // Each that is before it has a terminator less.
                return folded.lowerBound - entry..<folded.upperBound - entry
            }
            let isLast = entry + 1 == originalStarts.count
            let end = isLast ? originals.count : Int(originalStarts[entry + 1])
            return Int(originalStarts[entry])..<end
        }

        @inline(__always)
        mutating func append(
            _ text: UnsafeRawBufferPointer, original: UnsafeRawBufferPointer, owner: Int32
        ) {
            if text.count != original.count, originalStarts.isEmpty {
                originalStarts.reserveCapacity(starts.capacity)
                for entry in starts.indices {
                    originalStarts.append(starts[entry] - UInt32(entry))
                }
                originalStarts.append(UInt32(originals.count))
            } else if !originalStarts.isEmpty {
                originalStarts.append(UInt32(originals.count))
            }
            starts.append(UInt32(bytes.count))
            owners.append(owner)
            bytes.append(contentsOf: text)
            bytes.append(FoldedTexts.terminator)
            originals.append(contentsOf: original)
            signatures.extend(to: bytes)
        }

        /// Whether it has room for a text of this length.
        func hasRoom(for length: Int) -> Bool {
            self.length + length <= FoldedTexts.runLength && starts.count < FoldedTexts.runEntries
        }

        /// Whether less than half of it is taken.
        var isRoomy: Bool {
            length < FoldedTexts.runLength / 2 && starts.count < FoldedTexts.runEntries / 2
        }

        /// Makes room for a whole run with about as many texts as another: growing would touch the memory of two.
        mutating func reserve(like other: Run) {
            bytes.reserveCapacity(FoldedTexts.runLength)
            originals.reserveCapacity(FoldedTexts.runLength)
            let entries = other.starts.count + other.starts.count / 16
            starts.reserveCapacity(entries)
            owners.reserveCapacity(entries)
        }

        @inline(__always)
        func visitOwners(
            of needle: Needle, ahead: (Int) -> Void, _ body: (Int) -> Void
        ) {
            bytes.withUnsafeBytes { bytes in
                starts.withUnsafeBufferPointer { starts in
                    owners.withUnsafeBufferPointer { owners in
                        var first = 0
                        signatures.visitRanges(for: needle, count: bytes.count) { range in
                            // A stretch begins with a text.
                            first = starts.lastIndex(
                                notAfter: UInt32(range.lowerBound), from: first)
                            let texts = UnsafeRawBufferPointer(rebasing: bytes[range])
                            needle.visitTexts(in: texts, from: first) { entry in
                                if owners[entry] >= 0 { ahead(Int(owners[entry])) }
                            } _: { entry in
                                if owners[entry] >= 0 { body(Int(owners[entry])) }
                            }
                        }
                    }
                }
            }
        }
    }

    private struct Position {
        static let none = UInt16.max

        /// ``none`` while there is no text.
        var run: UInt16
        var entry: UInt16
    }

    private static let runLength = 1 << 20
    /// The maximum number of texts in a run, so that a position takes 32 bits.
    ///
    /// There may be 65,535 runs, of at least half a megabyte or half as many texts.
    private static let runEntries = 1 << 16
    private static let terminator: UInt8 = 0xFF

    private var runs: [Run] = []
    private var open = 0
    /// The number of bytes of its folded texts, including holes.
    private(set) var byteCount = 0
    private var positions: ContiguousArray<Position> = []

    /// Adds a text, folded and as it is; the owner must have none now.
    func insert(
        _ text: UnsafeRawBufferPointer, original: UnsafeRawBufferPointer, owner: Int
    ) {
        let length = max(text.count, original.count)
        if runs.isEmpty || !runs[open].hasRoom(for: length) { openRun() }
        if owner == positions.count { positions.append(Position(run: 0, entry: 0)) }
        positions[owner] = Position(run: UInt16(open), entry: UInt16(runs[open].starts.count))
        runs[open].append(text, original: original, owner: Int32(owner))
        byteCount += text.count + 1
    }

    /// Reserves room for the texts of this many owners.
    func reserve(_ count: Int) { positions.reserveCapacity(count) }

    func has(_ owner: Int) -> Bool { positions[owner].run != Position.none }

    func remove(owner: Int) {
        let position = positions[owner]
        let (run, entry) = (Int(position.run), Int(position.entry))
        runs[run].owners[entry] = -1
        positions[owner].run = Position.none
        runs[run].holes += runs[run].range(of: entry).count + 1
        if runs[run].holes * 2 > runs[run].bytes.count { rewrite(run) }
    }

    @inline(__always)
    func withText<R>(of owner: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let position = positions[owner]
        let range = runs[Int(position.run)].range(of: Int(position.entry))
        return runs[Int(position.run)].bytes.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
    }

    @inline(__always)
    func withOriginal<R>(of owner: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let position = positions[owner]
        let range = runs[Int(position.run)].originalRange(of: Int(position.entry))
        return runs[Int(position.run)].originals.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[range]))
        }
    }

    /// Whether an owner's text contains another.
    func contains(_ needle: Needle, owner: Int) -> Bool {
        withText(of: owner, needle.isIn)
    }

    /// Calls the body with each owner whose text contains another, once.
    ///
    /// Calls `ahead` with some owners before that,
    /// so that their memory can be prefetched.
    @inline(__always)
    func visitOwners(
        containing needle: Needle, ahead: (Int) -> Void = { _ in }, _ body: (Int) -> Void
    ) {
        for run in runs { run.visitOwners(of: needle, ahead: ahead, body) }
    }

    /// The number of runs; a text does not change its run while it is kept.
    var runCount: Int { runs.count }

    /// Does the same as ``visitOwners(containing:ahead:_:)``, for the texts of one run.
    func visitOwners(containing needle: Needle, inRun run: Int, _ body: (Int) -> Void) {
        runs[run].visitOwners(of: needle, ahead: { _ in }, body)
    }

    private func openRun() {
        // Runs that were written anew have room again.
        let roomy = runs.firstIndex { $0.isRoomy }
        open = roomy ?? runs.count
        guard roomy == nil else { return }
        precondition(open < Int(Position.none), "the texts of a field are more than 32 GB")
        runs.append(Run())
        if open > 0 { runs[open].reserve(like: runs[open - 1]) }
    }

    private func rewrite(_ index: Int) {
        let old = runs[index]
        var new = Run()
        for (entry, owner) in old.owners.enumerated() where owner >= 0 {
            positions[Int(owner)].entry = UInt16(new.starts.count)
            old.bytes.withUnsafeBytes { bytes in
                old.originals.withUnsafeBytes { originals in
                    new.append(
                        UnsafeRawBufferPointer(rebasing: bytes[old.range(of: entry)]),
                        original: UnsafeRawBufferPointer(
                            rebasing: originals[old.originalRange(of: entry)]),
                        owner: owner)
                }
            }
        }
        byteCount -= old.bytes.count - new.bytes.count
        runs[index] = new
    }
}

extension UnsafeBufferPointer<UInt32> {
    /// Returns the index of the last element that is not greater, at or behind `first`.
    ///
    /// It searches in growing steps, since stretches come in order and the element is mostly near.
    @inline(__always)
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
