import Testing

@testable import atriumctl

@Suite struct `Changes of a text` {
    @Test func `lines that went and came stand in their order`() {
        #expect(
            TextChange.lines(from: "a\nb\nc\nd\n", to: "a\nB\nc\nd\ne\n") == ["- b", "+ B", "+ e"])
        #expect(TextChange.lines(from: "a\n", to: "a\n") == [])
        #expect(TextChange.lines(from: "x", to: "") == ["- x", "+ "])
    }
}
