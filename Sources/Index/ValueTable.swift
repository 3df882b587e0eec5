import AtriumKit

/// The distinct texts of one field, each under a small number, its code: the text, its folded form,
/// and the rows that have it.
final class ValueTable {
    /// Grows with each text that comes or goes.
    private(set) var version: UInt64 = 0
    /// The number of texts that rows have.
    private(set) var count = 0
    /// Grows with each row that takes or loses a text.
    private(set) var changes: UInt64 = 0
    var cut = CutValues()
    let folded = FoldedTexts()
    private(set) var postings: ContiguousArray<Postings> = []
    /// The first eight bytes of each folded text, as a number that orders as the text does.
    private(set) var heads: ContiguousArray<UInt64> = []

    private var codes = HashedSlots()
    private var free: ContiguousArray<Int32> = []
    /// The codes that no row has any more, and whose texts may still be read.
    private var retired: ContiguousArray<Int32> = []
    private var retiredEarlier: ContiguousArray<Int32> = []

    /// One more than the greatest code there was.
    var end: Int { postings.count }

    /// Under which code a text is; nil when no row has it.
    func code(of text: String) -> Int? {
        lastCode(of: text).flatMap { postings[$0].count > 0 ? $0 : nil }
    }

    /// Under which code a text is, or was, if it is not forgotten yet.
    func lastCode(of text: String) -> Int? {
        var text = text
        return text.withUTF8 { code(of: $0, hash: HashedSlots.textHash($0)) }
    }

    /// The text under a code that is not forgotten.
    func text(of code: Int) -> String { folded.withOriginal(of: code) { $0.text } }

    /// The codes that rows have, in the order of their texts.
    var sortedCodes: [Int] {
        postings.indices.filter { postings[$0].count > 0 }.sorted { compare($0, $1) < 0 }
    }

    /// A version that changes when the texts that most rows have have to be found again.
    var cutVersion: UInt64 { cut.version(after: changes, ofValues: count) }

    /// Notes that a row has a text, and gives its code.
    func insert(_ text: String, row: Int) -> Int {
        var text = text
        return text.withUTF8 { text in
            let hash = HashedSlots.textHash(text)
            let code =
                code(of: text, hash: hash)
                ?? Folding.withFolded(text) { add(text, folded: $0, hash: hash) }
            insert(row, under: code)
            return code
        }
    }

    /// Notes that a row has a text whose hash and folded form are known, and gives its code.
    func insert(
        _ text: UnsafeBufferPointer<UInt8>, folded: UnsafeBufferPointer<UInt8>, hash: UInt32,
        row: Int
    ) -> Int {
        let code = code(of: text, hash: hash) ?? add(text, folded: folded, hash: hash)
        insert(row, under: code)
        return code
    }

    /// Reserves room for this many distinct texts.
    func reserve(_ count: Int) {
        codes.reserve(count)
        postings.reserveCapacity(count)
        heads.reserveCapacity(count)
        folded.reserve(count)
    }

    /// Notes that a row has a text no longer.
    ///
    /// A text that no row has is forgotten with the next ``release()``.
    func remove(code: Int, row: Int) {
        postings[code].remove(row)
        changes += 1
        guard postings[code].count == 0 else { return }
        count -= 1
        retired.append(Int32(code))
        version += 1
    }

    /// Drops the texts that no row has; their codes may be reused.
    func release() {
        guard !retired.isEmpty || !retiredEarlier.isEmpty else { return }
        age()
        age()
    }

    /// Drops the texts that no row had already at the last call.
    func age() {
        let forgotten = retiredEarlier
        retiredEarlier = retired
        retired = []
        for code in forgotten.map(Int.init) where postings[code].count == 0 && folded.has(code) {
            var text = text(of: code)
            codes.remove(code, hash: text.slotHash)
            folded.remove(owner: code)
            free.append(Int32(code))
        }
    }

    /// Compares two texts, folded and then as they are: below 0 if the first one comes first.
    func compare(_ one: Int, _ other: Int) -> Int {
        if one == other { return 0 }
        if heads[one] != heads[other] { return heads[one] < heads[other] ? -1 : 1 }
        let order = folded.withText(of: one) { left in
            folded.withText(of: other) { right in left.compare(right) }
        }
        return order != 0 ? order : text(of: one).compare(text(of: other))
    }

    /// Compares the text of a code with one that may be of no row: below 0 if the code's comes first.
    func compare(_ code: Int, _ text: FoldedText) -> Int {
        let order = folded.withText(of: code) { left in
            text.folded.withUnsafeBytes { right in left.compare(right) }
        }
        return order != 0 ? order : self.text(of: code).compare(text.text)
    }

    /// Compares the folded text of a code with all that begin with some bytes: below 0 if it comes before them, 0 if it
    /// is one of them.
    func compare(_ code: Int, toStart start: [UInt8]) -> Int {
        folded.withText(of: code) { text in
            start.withUnsafeBytes { start in
                UnsafeRawBufferPointer(rebasing: text.prefix(start.count)).compare(start)
            }
        }
    }

    private func code(of text: UnsafeBufferPointer<UInt8>, hash: UInt32) -> Int? {
        let text = UnsafeRawBufferPointer(text)
        return codes.find(hash) { code in
            folded.withOriginal(of: code) { known in
                // Texts may be equal and say their accents otherwise.
                known.isSame(as: text) || known.text == text.text
            }
        }
    }

    private func insert(_ row: Int, under code: Int) {
        if postings[code].count == 0 {
            version += 1
            count += 1
        }
        changes += 1
        postings[code].insert(row)
    }

    private func add(
        _ text: UnsafeBufferPointer<UInt8>, folded bytes: UnsafeBufferPointer<UInt8>,
        hash: UInt32
    ) -> Int {
        let code: Int
        if let freed = free.popLast() {
            code = Int(freed)
            heads[code] = UInt64(head: bytes)
        } else {
            code = postings.count
            heads.append(UInt64(head: bytes))
            postings.append(Postings())
        }
        codes.insert(code, hash: hash)
        folded.insert(
            UnsafeRawBufferPointer(bytes), original: UnsafeRawBufferPointer(text), owner: code)
        return code
    }
}

/// A text with its folded form.
struct FoldedText {
    let text: String
    let folded: [UInt8]

    init(_ text: String) {
        self.text = text
        folded = Folding.fold(text)
    }
}

extension UInt64 {
    /// The first eight bytes of a text as a number that orders as the text does.
    init(head text: some Sequence<UInt8>) {
        var (head, shift): (UInt64, UInt64) = (0, 64)
        for byte in text.prefix(8) {
            shift -= 8
            head |= UInt64(byte) << shift
        }
        self = head
    }
}

extension String {
    /// Below 0 when this text comes first, above when the other does: byte by byte, as both are in
    /// NFC.
    ///
    /// `<` of texts that are not in NFC is no order: of two it may say that neither is first, though
    /// they are not equal.
    func compare(_ other: String) -> Int {
        var (one, other) = (composed, other.composed)
        return one.withUTF8 { one in
            other.withUTF8 { UnsafeRawBufferPointer(one).compare(UnsafeRawBufferPointer($0)) }
        }
    }

    /// The text in NFC; a text with only scalars below U+0300 is in NFC already.
    private var composed: String {
        utf8.contains { $0 >= 0xCC } ? precomposed : self
    }
}
