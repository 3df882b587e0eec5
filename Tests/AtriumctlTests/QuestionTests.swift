import Testing

@testable import atriumctl

@Suite struct `Questions at a terminal` {
    @Test(arguments: [
        ("y", true, true), ("yes", true, true), ("", false, true), ("n", false, false),
        ("no", false, false), ("what", false, true), (nil, false, false),
    ])
    func `the end of input never means yes, an empty line is the answer in capitals`(
        answer: String?, isYes: Bool, isYesByDefault: Bool
    ) {
        #expect(Question.isYes(answer: answer, byDefault: false) == isYes)
        #expect(Question.isYes(answer: answer, byDefault: true) == isYesByDefault)
    }

    @Test func `what erases for good asks nobody who said yes already`() {
        #expect(throws: Never.self) {
            try Question.beforeErasing("the votes on films", isSure: true)
        }
    }
}
