import ArgumentParser
import Testing

@testable import atriumctl

@Suite struct `A text that begins with a dash` {
    private static let behind = "a text that begins with '-' stands behind '--': -- "

    private static func hint(_ words: [String]) -> String? {
        do {
            _ = try Atriumctl.parseAsRoot(words)
            return nil
        } catch {
            return TextHint.sentence(words, Atriumctl.fullMessage(for: error))
        }
    }

    @Test(arguments: [
        ["comment", "films/x"], ["reply", "films", "c"], ["edit-comment", "films", "c"],
    ]) func `stands behind two, or comes from standard input`(words: [String]) throws {
        let reads = "; as text, - reads it from standard input."
        #expect(Self.hint(words + ["- nice film"]) == Self.behind + "'- nice film'" + reads)
        #expect(Self.hint(words + ["-nice"]) == Self.behind + "-nice" + reads)
        #expect(throws: Never.self) { try Atriumctl.parseAsRoot(words + ["--", "- nice film"]) }
        #expect(throws: Never.self) { try Atriumctl.parseAsRoot(words + ["-"]) }
    }

    @Test func `stands behind two in any other command, too`() throws {
        #expect(Self.hint(["publish", "club.news", "- x"]) == Self.behind + "'- x'.")
        #expect(Self.hint(["screen", "search", "s", "-x"]) == Self.behind + "-x.")
        #expect(throws: Never.self) {
            try Atriumctl.parseAsRoot(["screen", "search", "s", "--", "-x"])
        }
    }

    @Test func `stands behind an equals sign as an option's value`() throws {
        let words = ["moderate", "films", "c", "removed", "--yes"]
        let hint = "a value that begins with '-' stands behind '=': --reason='- x'"
        #expect(Self.hint(words + ["--reason", "- x"]) == hint)
        #expect(throws: Never.self) { try Atriumctl.parseAsRoot(words + ["--reason=- x"]) }
    }

    @Test func `is no option that is misspelled`() {
        #expect(Self.hint(["comment", "films/x", "--jsno", "text"]) == nil)
        #expect(Self.hint(["comment", "films/x"]) == nil)
        #expect(Self.hint(["list", "films", "--serch=two words"]) == nil)
    }

    @Test
    func `is not blamed for the missing value of an option behind it, and is cut with a mark`() {
        #expect(Self.hint(["comment", "films/x", "- nice film", "--actor"]) == nil)
        let long = "- " + String(repeating: "so ", count: 30)
        #expect(Self.hint(["comment", "films/x", long])?.contains("…'") == true)
    }
}
