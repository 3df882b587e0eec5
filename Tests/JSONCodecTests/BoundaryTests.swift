import JSONCodec
import Testing

/// Texts are looked through several bytes at a time: what counts must be found wherever it stands.
@Suite struct BoundaryTests {
    /// What is special in a string, as it stands there and as it reads.
    static let specials: [(text: String, value: String)] = [
        (#"\""#, "\""), (#"\\"#, "\\"), (#"\n"#, "\n"), (#"\u0000"#, "\0"), (#"\ud83d\ude00"#, "😀"),
        ("é", "é"), ("€", "€"), ("😀", "😀"), ("\u{7F}", "\u{7F}"), ("\u{80}", "\u{80}"),
    ]

    @Test(arguments: specials.indices)
    func `what is special in a string is found at any place`(index: Int) throws {
        let special = Self.specials[index]
        for before in 0..<20 {
            for after in 0..<20 {
                let (start, end) = (
                    String(repeating: "a", count: before), String(repeating: "z", count: after)
                )
                let value = start + special.value + end
                #expect(
                    try JSON.decode(String.self, from: "\"\(start)\(special.text)\(end)\"") == value
                )
                #expect(try JSON.decode(String.self, from: JSON.encode(value)) == value)
                let object = "{\"\(start)\(special.text)\(end)\":\"\(start)\"}"
                #expect(try JSON.decode([String: String].self, from: object) == [value: start])
                #expect(try JSON.decode(JSONValue.self, from: object) == [value: .string(start)])
            }
        }
    }

    @Test(arguments: [0x00, 0x0A, 0x1F, 0x80, 0xC3, 0xFF] as [UInt8])
    func `what a string may not hold is found at any place`(byte: UInt8) {
        for before in 0..<20 {
            for after in 0..<20 {
                let text =
                    [0x22] + [UInt8](repeating: 0x61, count: before) + [byte]
                    + [UInt8](repeating: 0x7A, count: after) + [0x22]
                let error = #expect(throws: JSONError.self) {
                    try JSON.decode(String.self, from: text)
                }
                #expect(error?.offset == before + 1)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40])
    func `a name that stands twice is found among any number of any length`(length: Int) {
        // All of one length, and different in one place only.
        let names = (0..<24).map { number in
            let place = number % length
            let letter = String(Unicode.Scalar(UInt8(ascii: "a") + UInt8(number)))
            return String(repeating: "-", count: place) + letter
                + String(repeating: "-", count: length - place - 1)
        }
        for count in 1...names.count {
            let members = names.prefix(count).map { "\"\($0)\":0" }
            let text = "{" + members.joined(separator: ",") + "}"
            #expect(throws: Never.self) { try JSON.decode(JSONValue.self, from: text) }
            #expect(skipped(Array(text.utf8)) == nil)
            for twice in [0, count / 2, count - 1] {
                let text = "{" + (members + [members[twice]]).joined(separator: ",") + "}"
                let error = #expect(throws: JSONError.self) {
                    try JSON.decode(JSONValue.self, from: text)
                }
                #expect(error?.kind == .duplicateMember)
                #expect(error?.path == names[twice])
                #expect(skipped(Array(text.utf8))?.path == names[twice])
                #expect(undeclared(Array(text.utf8))?.path == names[twice])
            }
        }
    }

    /// Where rounding is decided by what lies beyond the bits that a word holds.
    @Test(arguments: [
        "9007199254740993", "9007199254740993e22", "9007199254740992.5", "9014398508381986e22",
        "9999999999999999999e27", "9999999999999999999e-27", "1234567890123456789e-27",
        "0.000000000000000000000000001", "3.8461538461538463", "18446744073709551615",
        "9223372036854775807.5", "1e23", "8.5e22", "-0e27", "0e-27", "4503599627370497.5",
        "12345678901234567890", "1.00000000000000011102230246251565404236316680908203125",
    ])
    func `numbers are the nearest there are`(text: String) throws {
        #expect(try JSON.decode(Double.self, from: text).bitPattern == Double(text)?.bitPattern)
    }

    /// The error of reading an object that declares nothing, and skips all there is.
    private func undeclared(_ text: [UInt8]) -> JSONError? {
        text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            reader.allowsUnknownMembers = true
            var others = JSONKeySet()
            do throws(JSONError) {
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    try reader.skipUnknownMember(key, among: &others)
                }
                return nil
            } catch {
                return error
            }
        }
    }
}
