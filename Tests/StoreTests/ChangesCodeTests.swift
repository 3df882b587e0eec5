import Testing

@testable import Store

@Suite struct ChangesCodeTests {
    private func decoded(_ bytes: [UInt8]) -> [RecordChange]? {
        bytes.withUnsafeBytes(ChangesCode.decode)
    }

    @Test func `one change is as the first of several`() {
        let change = RecordChange(container: "c", component: "töne", key: "k", value: [7, 8])
        let code: [UInt8] = [1, 1, 99, 5, 116, 195, 182, 110, 101, 1, 0, 1, 107, 3, 7, 8]
        #expect(ChangesCode.encode([change]) == code)
        let both = ChangesCode.encode([change, change])
        #expect(Array(both.prefix(9)) == Array(code.prefix(9)))
        #expect(both.dropFirst(10) == code.dropFirst(10) + code.dropFirst(10))
    }

    @Test func `changes of any length come back`() {
        for length in [0, 1, 126, 127, 128, 200, 16_382, 16_383, 16_384, 100_000] {
            let text = String(repeating: "k", count: length)
            for value in [nil, [], [UInt8](repeating: 1, count: length)] {
                let change = RecordChange(
                    container: "c", component: String(text.prefix(200)), key: text, value: value)
                for changes in [[change], [change, change]] {
                    #expect(decoded(ChangesCode.encode(changes)) == changes)
                }
            }
        }
        #expect(decoded(ChangesCode.encode([])) == [])
    }
}
