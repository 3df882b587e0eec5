import AtriumKit
import Testing

/// Copies of a screen's choices share their memory until one is changed.
@Suite struct ScreenChoicesTests {
    @Test func `a changed copy differs and leaves the original as it was, whatever is chosen`() {
        let edits: [(inout ScreenChoices) -> Void] = [
            { $0.scope = "past" }, { $0.selection = Selection(["genre": ["jazz"]]) },
            { $0.search = "blue" }, { $0.sort = ["-title"] }, { $0.path = ["album"] },
            { $0.focus = "song" }, { $0.hidden = ["talk"] },
        ]
        for edit in edits {
            let original = ScreenChoices()
            var copy = original
            edit(&copy)
            #expect(original == ScreenChoices())
            #expect(copy != original)
            var again = ScreenChoices()
            edit(&again)
            #expect(copy == again)
            #expect(copy.hashValue == again.hashValue)
        }
    }
}
