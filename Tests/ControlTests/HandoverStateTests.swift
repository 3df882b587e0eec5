import AtriumKit
import Host
import JSONCodec
import Testing

@testable import Control

@Suite struct HandoverStateTests {
    private var screen: KeptScreen {
        var screen = KeptScreen(
            id: ScreenID("a-1"), container: "films", owner: "unix:1", actor: nil, agent: "unix:1")
        screen.revision = 7
        screen.digest = -3
        screen.scope = "past"
        screen.search = "the \"night\""
        screen.sort = ["-votes.score", "title"]
        screen.path = [.init(component: "list", item: "x")]
        screen.limits = ["talk": 3]
        screen.subject = "x"
        screen.selection["genre"] = ["drama"]
        return screen
    }

    @Test func `a screen is read as it was written down`() throws {
        let written = HandoverState(connections: [], screens: [screen])
        #expect(try HandoverState(written.bytes).screens == [screen])
        #expect(try HandoverState(written.bytes).hasEnd == false)
        let ended = HandoverState(connections: [], screens: [], hasEnd: true)
        #expect(try HandoverState(ended.bytes).hasEnd)
    }

    @Test func `a subscription is read as it was written down`() {
        for seesRestricted in [false, true] {
            let state = SubscriptionState(
                patterns: ["films.>"], after: 7, seesRestricted: seesRestricted,
                gaps: [.init(from: 1, to: 2, reason: .trimmed)])
            let written = state.object(in: "a store").value
            #expect(SubscriptionState(written) == state)
            #expect(written["store"]?.string == "a store")
        }
    }

    @Test func `another version is refused, and named`() {
        #expect {
            try HandoverState(Array(#"{"version":2,"anything":[]}"#.utf8))
        } throws: {
            "\($0)" == "it has version 2, and this daemon reads version 1"
        }
    }

    @Test(arguments: [
        "", "{", "[]", #"{"version":1}"#, #"{"version":1,"connections":[{}],"screens":[]}"#,
    ])
    func `what is damaged is refused`(text: String) {
        #expect(throws: HandoverState.Problem.self) { try HandoverState(Array(text.utf8)) }
    }

    @Test func `of notes that a crash cut, the whole ones count`() {
        let notes: [ScreenNote] = [.chosen(screen), .gone(ScreenID("b-2"))]
        let lines = notes.flatMap(\.line)
        #expect(ScreenNote.notes(in: lines) == notes)
        #expect(ScreenNote.notes(in: lines.dropLast(5)) == [.chosen(screen)])
    }
}
