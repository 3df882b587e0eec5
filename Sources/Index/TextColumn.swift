import AtriumKit
import CBits

/// The values of a `text` or `keywords` field: for each row the codes of its texts.
final class TextColumn {
    /// The distinct texts, and the rows that have each.
    let values = ValueTable()

    /// The first code of each row, by which rows sort; -1 for a row without a text.
    private(set) var first: ContiguousArray<Int32> = []
    /// The further codes of each row; shorter than ``first`` if no later row has any.
    private var rest: ContiguousArray<ContiguousArray<Int32>> = []
    /// The number of rows for which room was reserved.
    private var expectedRows = 0

    /// Sets a row's value; a value that is neither a text nor a list of texts counts as none.
    func set(_ value: Value?, row: Int) {
        // Most rows get one text, once.
        if sortCode(of: row) == nil, let text = value?.onlyText {
            return setFirst(Int32(values.insert(text, row: row)), row: row)
        }
        switch value {
        case .text(let text): replace(row, by: CollectionOfOne(text))
        case .list(let list): replace(row, by: list.lazy.compactMap(\.text))
        default: replace(row, by: EmptyCollection())
        }
    }

    /// Reserves room for this many rows.
    func reserve(_ rows: Int) {
        first.reserveCapacity(rows)
        expectedRows = rows
    }

    /// Adds the texts of new rows.
    func append(_ texts: RecordBatch.Column, from start: Int, count: Int) {
        // Where most texts are one row's, there will be about as many of them as rows.
        if start >= 8 * RecordBatch.length, values.end * 2 > start {
            values.reserve(expectedRows)
            expectedRows = 0
        }
        first.append(contentsOf: repeatElement(-1, count: start + count - first.count))
        var further = FurtherCodes()
        for text in texts.texts {
            let row = start + Int(text.row)
            let code = texts.withBytes(of: text) { plain, folded in
                Int32(values.insert(plain, folded: folded, hash: text.hash, row: row))
            }
            if first[row] < 0 { first[row] = code } else { add(code, row: row, &further) }
        }
    }

    /// Calls the body with the code of each of a row's texts.
    @inline(__always)
    func visitCodes(of row: Int, _ body: (Int) -> Void) {
        guard row < first.count, first[row] >= 0 else { return }
        body(Int(first[row]))
        guard row < rest.count else { return }
        for code in rest[row] { body(Int(code)) }
    }

    /// The code that the row sorts by; nil where it has no text.
    func sortCode(of row: Int) -> Int? {
        row < first.count && first[row] >= 0 ? Int(first[row]) : nil
    }

    /// The rows that have exactly this text among theirs.
    func rows(equalTo text: String) -> Postings? {
        values.code(of: text).map { values.postings[$0] }
    }

    func rowsWithValue(below end: Int) -> Bitset {
        Bitset(below: min(end, first.count)) { first[$0] >= 0 }
    }

    /// Adds the rows with a text that contains this one to the set.
    func collectRows(containing needle: Needle, into rows: inout Bitset) {
        rows.reserve(first.count)
        var shared: ContiguousArray<Int> = []
        values.postings.withUnsafeBufferPointer { postings in
            // Most texts are one row's: those are bits to set, and nothing else.
            rows.insert { insert in
                values.folded.visitOwners(containing: needle) { owner in
                    bits_prefetch(postings.baseAddress.map { $0 + owner })
                } _: { owner in
                    if let row = postings[owner].only { insert(row) } else { shared.append(owner) }
                }
            }
            for owner in shared { postings[owner].formUnion(into: &rows) }
        }
    }

    /// The number of bytes that a search for a text reads.
    var byteCount: Int { values.folded.byteCount }

    /// The number of runs that the texts are in.
    var runCount: Int { values.folded.runCount }

    /// Does the same as ``collectRows(containing:into:)``, for the texts of one run.
    func collectRows(containing needle: Needle, inRun run: Int, into rows: inout Bitset) {
        values.folded.visitOwners(containing: needle, inRun: run) { owner in
            values.postings[owner].formUnion(into: &rows)
        }
    }

    func contains(_ needle: Needle, row: Int) -> Bool {
        var isFound = false
        visitCodes(of: row) { code in
            isFound = isFound || values.folded.contains(needle, owner: code)
        }
        return isFound
    }

    /// Returns the number of the rows with each text, by code, by one pass over the rows; for few rows.
    func counts(in rows: Bitset) -> ContiguousArray<Int32> {
        var counts = ContiguousArray<Int32>(repeating: 0, count: values.postings.count)
        // Copies, so that the loop does not ask for exclusive access at each row.
        let (first, rest) = (first, rest)
        rows.visit { row in
            guard row < first.count, first[row] >= 0 else { return }
            counts[Int(first[row])] += 1
            guard row < rest.count else { return }
            for code in rest[row] { counts[Int(code)] += 1 }
        }
        return counts
    }

    /// Whether a row's value is this one already.
    func holds(_ value: Value?, row: Int) -> Bool {
        let codes = codes(of: row)
        return switch value {
        case .text(let text): isExactly(codes, CollectionOfOne(text))
        case .list(let list): isExactly(codes, list.lazy.compactMap(\.text))
        default: codes.isEmpty
        }
    }

    func codes(of row: Int) -> ContiguousArray<Int32> {
        var codes: ContiguousArray<Int32> = []
        visitCodes(of: row) { codes.append(Int32($0)) }
        return codes
    }

    /// Drops the texts that no row has.
    func release() { values.release() }

    /// Drops the texts that no row had already at the last call.
    func age() { values.age() }

    /// Adds a further text to a row; one that it has already counts once.
    private func add(_ code: Int32, row: Int, _ further: inout FurtherCodes) {
        guard code != first[row] else { return }
        if row >= rest.count {
            rest.append(contentsOf: repeatElement([], count: row + 1 - rest.count))
        }
        if further.isNew(code, in: rest[row], of: row) { rest[row].append(code) }
    }

    private func setFirst(_ code: Int32, row: Int) {
        if row == first.count { return first.append(code) }
        if row > first.count {
            first.append(contentsOf: repeatElement(-1, count: row + 1 - first.count))
        }
        first[row] = code
    }

    private func replace(_ row: Int, by texts: some Collection<String>) {
        let old = codes(of: row)
        let new = insert(texts, row: row)
        let kept = CodeSet(new)
        for code in old where !kept.contains(code) { values.remove(code: Int(code), row: row) }
        setFirst(new.first ?? -1, row: row)
        let further = new.dropFirst()
        if !further.isEmpty || row < rest.count {
            if row >= rest.count {
                rest.append(contentsOf: repeatElement([], count: row + 1 - rest.count))
            }
            rest[row] = ContiguousArray(further)
        }
    }

    /// Whether the codes are those of these texts, in this order and none twice.
    private func isExactly(
        _ codes: ContiguousArray<Int32>, _ texts: some Collection<String>
    ) -> Bool {
        codes.count == texts.count
            && zip(codes, texts).allSatisfy { values.text(of: Int($0)) == $1 }
    }

    private func insert(
        _ texts: some Collection<String>, row: Int
    ) -> ContiguousArray<Int32> {
        var new = CodeSet([])
        // A word that stands twice counts once.
        for text in texts { new.insert(Int32(values.insert(text, row: row))) }
        return new.codes
    }
}

/// The further codes of the row to which texts are being added, for a quick look-up if there are many.
private struct FurtherCodes {
    private var row = -1
    private var known: Set<Int32> = []

    /// Whether a row does not have a code yet; it is added to the row then.
    mutating func isNew(_ code: Int32, in codes: ContiguousArray<Int32>, of row: Int) -> Bool {
        guard codes.count > CodeSet.few else { return !codes.contains(code) }
        if row != self.row { (self.row, known) = (row, Set(codes)) }
        return known.insert(code).inserted
    }
}

/// The codes of a row's texts, each once, in order.
private struct CodeSet {
    private(set) var codes: ContiguousArray<Int32>
    /// The same for a quick look-up; nil for few, which most rows have.
    private var known: Set<Int32>?

    /// The number of codes up to which each is compared.
    static let few = 16

    /// Makes a set of codes that are there once each.
    init(_ codes: ContiguousArray<Int32>) {
        self.codes = codes
        if codes.count > Self.few { known = Set(codes) }
    }

    func contains(_ code: Int32) -> Bool { known?.contains(code) ?? codes.contains(code) }

    mutating func insert(_ code: Int32) {
        guard !contains(code) else { return }
        codes.append(code)
        if codes.count > Self.few { known = known ?? Set(codes) }
        known?.insert(code)
    }
}

extension Value {
    /// The text that it is, or the only one of a list.
    fileprivate var onlyText: String? {
        switch self {
        case .text(let text): text
        case .list(let list): list.count == 1 ? list[0].text : nil
        default: nil
        }
    }
}
