import AtriumKit
import Foundation
import TestSupport
import Testing

@testable import Index

struct IndexPartsTests {
    @Test(arguments: [
        ("José", "jose"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("ẞ", "ss"),
        ("ΟΔΟΣ", "οδοσ"), ("ὁδός", "οδοσ"), ("Łódź", "łodz"), ("İstanbul", "istanbul"),
        ("Ǆ", "ǆ"), ("ﬁlm", "film"), ("Ёлка", "елка"), ("각", "각"), ("が", "が"),
        ("東京", "東京"), ("क्षि", "क्षि"), ("שָׁלוֹם", "שלום"),
        ("e\u{301}", "e"), ("", ""), ("\u{301}", ""),
        ("naïve ÅNGSTRÖM", "naive angstrom"), ("Ǭ", "o"), ("ŉ", "ʼn"),
    ])
    func `case and diacritics are folded`(text: String, folded: String) {
        #expect(String(decoding: Folding.fold(text), as: UTF8.self) == folded)
        #expect(Folding.fold(folded) == Folding.fold(text), "folding again changes nothing")
    }

    @Test func `a text is in one normal form, whichever it came in, and letters stay the same`() {
        let texts = [
            "e\u{301}각か\u{3099}क\u{93C}", "é\u{1112}\u{1161}\u{11AB}",
            "\u{212B}\u{FDFA}\u{1D15E}",
        ]
        for text in texts + texts.map({ String(repeating: $0, count: 1_000) }) {
            let normal = text.precomposed
            #expect(normal == text && normal.precomposed.utf8.elementsEqual(normal.utf8))
            #expect(Folding.fold(normal) == Folding.fold(text))
            var (one, other) = (normal, text)
            #expect(one.slotHash == other.slotHash)
        }
        #expect("e\u{301}각".precomposed.utf8.elementsEqual("é각".utf8))
        // U+10041 is no "A" (U+0041), which Foundation takes it for before an accent.
        let letter = "\u{10041}\u{301}"
        #expect(letter.precomposed.utf8.elementsEqual(letter.utf8))
    }

    @Test func `what Foundation holds for the same without case and diacritics is the same`() {
        for value in UInt32(0x41)...0x17F {
            guard let scalar = Unicode.Scalar(value), scalar.properties.isAlphabetic else {
                continue
            }
            let text = String(scalar)
            let plain = text.folding(
                options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            #expect(Folding.fold(text) == Folding.fold(plain), "U+\(String(value, radix: 16))")
        }
    }

    @Test func `a needle is found at every place of texts of every length`() {
        for length in 0...50 {
            for size in 1...20 where size <= length {
                for place in 0...(length - size) {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    let needle = (0..<size).map { UInt8(ascii: "b") + UInt8($0 % 3) }
                    text.replaceSubrange(place..<place + size, with: needle)
                    #expect(texts(with: needle, in: [text]) == [0], "\(length) \(size) \(place)")
                    // It does not begin in one text and end in the next.
                    let halves = [
                        Array(text[..<(place + size / 2)]), Array(text[(place + size / 2)...]),
                    ]
                    let whole = size == 1 ? [1] : []
                    #expect(texts(with: needle, in: halves) == whole, "\(length) \(size) \(place)")
                }
            }
        }
        #expect(Needle([]) == nil)
    }

    @Test func `a needle is found in each of many texts that hold it, once`() {
        var random = RepeatableRandom(17)
        let needles = [
            "a", "b", "ab", "aab", "abba", "babab", "aaaaaaaa", "cab", "abacabadabacaba",
        ]
        for most in [0, 1, 3, 20, 70, 300] {
            let all = (0..<3_000).map { _ in
                (0..<Int.random(in: 0...most, using: &random)).map { _ in
                    UInt8(ascii: "a") + UInt8(Int.random(in: 0...9, using: &random) % 4 % 3)
                }
            }
            for needle in needles {
                let expected = all.indices.filter {
                    String(decoding: all[$0], as: UTF8.self).contains(needle)
                }
                #expect(texts(with: Array(needle.utf8), in: all) == expected, "\(most) \(needle)")
                #expect(
                    all.indices.filter { isIn(Array(needle.utf8), all[$0]) } == expected,
                    "\(most) \(needle)")
            }
        }
    }

    @Test func `a needle is found in texts that repeat what it is made of`() {
        var random = RepeatableRandom(18)
        for round in 0..<40 {
            func word(_ length: ClosedRange<Int>) -> [UInt8] {
                (0..<Int.random(in: length, using: &random)).map { _ in
                    UInt8(ascii: Int.random(in: 0...300, using: &random) == 0 ? "b" : "a")
                }
            }
            let needle = word(5...400)
            let all = (0..<60).map { _ in word(0...3_000) }
            let text = String(decoding: needle, as: UTF8.self)
            let expected = all.indices.filter {
                String(decoding: all[$0], as: UTF8.self).range(of: text) != nil
            }
            #expect(texts(with: needle, in: all) == expected, "\(round)")
        }
    }

    @Test func `a long needle costs what it and the texts are long, not the product`() throws {
        let ab = Array("ab".utf8)
        let long = (0..<(64 << 10)).map { ab[$0 % 2] }
        let near = [UInt8](repeating: ab[0], count: 4_096)
        let missed = (0..<(1 << 20)).map { $0 % 4_096 == 4_095 ? ab[1] : ab[0] }
        let before = try threadSeconds()
        #expect(Needle(long) != nil)
        #expect(texts(with: near, in: [missed]) == [])
        #expect(texts(with: Array(missed.prefix(4_096)), in: [missed]) == [0])
        #expect(try threadSeconds() - before < 1)
    }

    /// The processor time that this thread has had.
    private func threadSeconds() throws -> Double {
        var time = timespec()
        try #require(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The numbers of the texts that a needle is in.
    private func texts(with needle: [UInt8], in texts: [[UInt8]]) -> [Int] {
        var found: [Int] = []
        Array(texts.joined(separator: [0xFF])).withUnsafeBytes { texts in
            Needle(needle)?.visitTexts(in: texts, from: 0) { found.append($0) }
        }
        return found
    }

    private func isIn(_ needle: [UInt8], _ text: [UInt8]) -> Bool {
        text.withUnsafeBytes { Needle(needle)?.isIn($0) ?? false }
    }

    @Test func `the table of folded scalars folds as the rules do`() {
        var random = RepeatableRandom(11)
        for _ in 0..<3_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                if let scalar = Unicode.Scalar(UInt32.random(in: 0x20...0x530, using: &random)) {
                    text.append(scalar)
                }
            }
            let name = text.map { String($0.value, radix: 16) }.joined(separator: " ")
            #expect(Folding.fold(String(text)) == Folding.foldUnicode(String(text)), "\(name)")
        }
    }

    @Test func `what is found in a long run of texts is what a look at each finds`() {
        var random = RepeatableRandom(3)
        let texts = FoldedTexts()
        let words = (0..<2_000).map { "\($0 &* 7_919 % 10_007)-\($0)" }
        let all = (0..<20_000).map { _ in
            (0..<3).map { _ in words[Int.random(in: 0..<2_000, using: &random)] }
                .joined(separator: " ")
        }
        for (owner, text) in all.enumerated() { texts.insert(Array(text.utf8), owner: owner) }
        for owner in stride(from: 0, to: 20_000, by: 3) { texts.remove(owner: owner) }
        for needle in ["1", "77", "919", "7919-", "-1999 ", "0-0", "never", words[1_234]] {
            var found: [Int] = []
            if let needle = Needle(Array(needle.utf8)) {
                texts.visitOwners(containing: needle) { found.append($0) }
            }
            let expected = all.indices.filter { $0 % 3 != 0 && all[$0].contains(needle) }
            #expect(found.sorted() == expected, "\(needle)")
        }
    }

    @Test func `a table of open addresses finds what is in it and nothing else`() {
        var random = RepeatableRandom(9)
        var slots = HashedSlots()
        var model: [Int: UInt32] = [:]
        // Few hashes, so that many meet at one place.
        for step in 0..<20_000 {
            let number = Int.random(in: 0...300, using: &random)
            if let hash = model[number] {
                #expect(slots.find(hash) { $0 == number } == number)
                guard step % 2 == 0 else { continue }
                slots.remove(number, hash: hash)
                model[number] = nil
                #expect(slots.find(hash) { $0 == number } == nil)
            } else {
                let hash = UInt32.random(in: 0...40, using: &random) &* 0x0800_0001
                slots.insert(number, hash: hash)
                model[number] = hash
            }
        }
        #expect(slots.count == model.count)
        for (number, hash) in model { #expect(slots.find(hash) { $0 == number } == number) }
    }

    @Test func `a table of very many numbers is in parts, none of which grows long`() {
        var random = RepeatableRandom(11)
        var slots = HashedSlots()
        let hashes = (0..<300_000).map { _ in UInt32.random(in: .min ... .max, using: &random) }
        slots.reserve(20_000)
        for (number, hash) in hashes.enumerated() { slots.insert(number, hash: hash) }
        let longest = slots.tables.map(\.places.count).max() ?? 0
        #expect(longest <= 1_024, "\(longest) places are moved at once")
        for number in stride(from: 0, to: hashes.count, by: 3) {
            slots.remove(number, hash: hashes[number])
        }
        #expect(slots.count == 200_000)
        let isRight = hashes.indices.allSatisfy { number in
            slots.find(hashes[number]) { $0 == number } == (number % 3 == 0 ? nil : number)
        }
        #expect(isRight)
    }

    @Test func `texts that are the same letters have the same hash`() {
        for (one, other) in [("é", "e\u{301}"), ("각", "\u{1100}\u{1161}\u{11A8}"), ("Å", "Å")] {
            var (one, other) = (one, other)
            #expect(one == other)
            #expect(one.slotHash == other.slotHash)
        }
    }

    @Test func `postings stay a set while they go from list to bits and back`() {
        var random = RepeatableRandom(5)
        var postings = Postings()
        var model: Set<Int> = []
        for step in 0..<20_000 {
            let row = Int.random(in: 0...3_000, using: &random)
            // Fills up, empties, and does so again.
            if Int.random(in: 0..<10, using: &random) < (step / 4_000 % 2 == 0 ? 8 : 2) {
                postings.insert(row)
                model.insert(row)
            } else {
                postings.remove(row)
                model.remove(row)
            }
            guard step % 500 == 0 else { continue }
            var rows: [Int] = []
            postings.visit { rows.append($0) }
            #expect(rows == model.sorted())
            #expect(postings.count == model.count)
            let half = Bitset(below: 1_500)
            #expect(postings.count(in: half) == model.count { $0 < 1_500 })
            #expect(postings.bitset.count == model.count)
        }
    }

    @Test func `texts that go leave no trace in a search`() {
        let texts = FoldedTexts()
        let long = String(repeating: "x", count: 3_000)
        for owner in 0..<2_000 { texts.insert(Array("\(owner) \(long)".utf8), owner: owner) }
        for owner in 0..<2_000 where owner % 10 != 0 { texts.remove(owner: owner) }
        for owner in 0..<200 where owner % 10 != 0 { texts.insert(Array("y".utf8), owner: owner) }
        var found: Set<Int> = []
        if let needle = Needle(Array("x".utf8)) {
            texts.visitOwners(containing: needle) { found.insert($0) }
        }
        #expect(found == Set((0..<2_000).filter { $0 % 10 == 0 }))
        found = []
        if let needle = Needle(Array("y".utf8)) {
            texts.visitOwners(containing: needle) { found.insert($0) }
        }
        #expect(found.count == 180)
        #expect(texts.withText(of: 1_990) { $0.count } == 3_005)
    }

    @Test(arguments: [
        ("1970-01-01", 0.0), ("1970-01-01T00:00:00Z", 0), ("2000-02-29", 951_782_400),
        ("2026-01-31T12:30:45.250Z", 1_769_862_645.25), ("1969-12-31T23:59:59Z", -1),
        ("2024-06-01t02:00:00+02:00", 1_717_200_000), ("0000-03-01", -62_162_035_200),
        ("2016-12-31T23:59:60Z", 1_483_228_800), ("9999-12-31", 253_402_214_400),
    ])
    func `times are read as seconds`(text: String, seconds: Double) {
        #expect(TimeText.seconds(text) == seconds)
        #expect(TimeText.seconds(TimeText.text(seconds: seconds)) == seconds)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-02-29", "2026-1-1", "2026-01-31T", "2026-01-31T12:30Z",
        "2026-01-31T24:00:00Z", "2026-01-31T12:30:45", "2026-01-31T12:30:45.Z", "2026-01-31 Z",
        "2026-01-31T12:30:45+2:00", "２０２６-01-31", "2026-01-31T12:30:45Zx",
    ])
    func `what is no time is refused`(text: String) {
        #expect(TimeText.seconds(text) == nil)
    }

    @Test func `numbers are counted by a pass over rows while they are few, and follow changes`() {
        let column = NumberColumn(type: .integer)
        func set(_ number: Double?, _ row: Int) { column.set(number, row: row) }
        var numbers = (0..<1_000).map { Double($0 % 100) }
        func counts(_ rows: Bitset) -> [Int]? {
            column.counts(of: [0, -0.0, 7, 1_007, 5_000], in: rows)
        }
        func expected(_ rows: Bitset) -> [Int] {
            [0, 0, 7, 1_007, 5_000].map { number in
                numbers.indices.count { rows.contains($0) && numbers[$0] == number }
            }
        }
        for (row, number) in numbers.enumerated() { set(number, row) }
        let rows = Bitset(below: 1_200) { $0 % 3 == 0 }
        #expect(counts(rows) == expected(rows))
        for row in stride(from: 0, to: 999, by: 2) {
            numbers[row] = row % 5 == 0 ? .nan : 1_007
            set(row % 5 == 0 ? nil : 1_007, row)
        }
        for row in 1_000..<1_100 {
            numbers.append(7)
            set(7, row)
        }
        #expect(counts(rows) == expected(rows))
        // One byte is too small for these: it is counted another way until they have gone again.
        for row in 0..<300 { set(Double(5_000 + row), row) }
        #expect(counts(rows) == nil)
        for row in 0..<300 {
            numbers[row] = 5_000
            set(5_000, row)
        }
        #expect(counts(rows) == expected(rows))
    }

    @Test func `values are JSON as they stand`() throws {
        let text = #"{"a":[1,-2.5,1e3,true,null,"é\n"],"b":{},"c":9007199254740993}"#
        let value = try Value(jsonBytes: Array(text.utf8))
        #expect(
            value == [
                "a": [1, -2.5, .number(1_000), true, nil, "é\n"], "b": [:],
                "c": 9_007_199_254_740_993,
            ])
        #expect(
            String(decoding: value.jsonBytes, as: UTF8.self)
                == #"{"a":[1,-2.5,1000,true,null,"é\n"],"b":{},"c":9007199254740993}"#)
        #expect(throws: (any Error).self) { try Value(jsonBytes: Array(#"{"a":1,"a":2}"#.utf8)) }
        #expect(throws: (any Error).self) { try Value(jsonBytes: Array("[1] x".utf8)) }
    }
}

extension FoldedTexts {
    fileprivate func insert(_ text: [UInt8], owner: Int) {
        text.withUnsafeBytes { insert($0, original: $0, owner: owner) }
    }
}
