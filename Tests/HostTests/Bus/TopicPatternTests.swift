import TestSupport
import Testing

@testable import Host

@Suite struct TopicPatternTests {
    @Test(arguments: [
        ("films.votes.cast", "films.votes.cast", true), ("films.votes", "films.votes.cast", false),
        ("films.votes.cast", "films.votes", false), ("films.*.cast", "films.votes.cast", true),
        ("*.votes.cast", "films.votes.cast", true), ("films.*", "films.votes.cast", false),
        ("films.*", "films", false), ("*", "films", true), ("*", "films.votes", false),
        (">", "films", true), (">", "films.votes", true), ("films.>", "films", false),
        ("films.>", "films.votes", true), ("films.>", "films2.votes", false),
        ("*.votes.>", "films.votes.cast", true), ("*.votes.>", "films.votes", false),
        ("films.*.>", "films.votes.cast.x", true), ("*.*", "films.votes", true),
    ])
    func `a pattern means what it says`(pattern: String, topic: String, matches: Bool) throws {
        #expect(try TopicPattern(pattern).matches(topic) == matches)
    }

    @Test(arguments: [
        "", ".", "a.", ".a", "a..b", "A.b", "a.>.b", "a*", "a.*b", "a.>>", "a b", "ä",
    ])
    func `what is no pattern is refused with a reason`(text: String) {
        #expect(throws: HostError.self) { try TopicPattern(text) }
    }

    @Test func `a topic has plain words alone`() {
        #expect(Topic.problem(in: "films.app.hello-2") == nil)
        for bad in ["films.*", "films.>", "", "films.", "Films"] {
            #expect(Topic.problem(in: bad) != nil, "\(bad)")
        }
        #expect(Topic.problem(in: String(repeating: "a", count: 255)) == nil)
        #expect(Topic.problem(in: String(repeating: "a", count: 256))?.contains("255") == true)
    }

    /// Against the plainest matcher there is, on random patterns and topics of few words.
    @Test func `the matcher agrees with one that splits words`() throws {
        var random = RepeatableRandom(7)
        var matched = 0
        for _ in 0..<20_000 {
            let topic = words(["a", "b", "ab"], &random)
            var pattern = words(["a", "b", "ab", "*"], &random)
            if Bool.random(using: &random) { pattern.append(">") }
            let expected = plain(pattern, topic)
            let found = try TopicPattern(pattern.joined(separator: "."))
                .matches(topic.joined(separator: "."))
            #expect(found == expected, "\(pattern) on \(topic)")
            if found { matched += 1 }
        }
        #expect(matched > 1_000)
    }

    private func words(_ from: [String], _ random: inout RepeatableRandom) -> [String] {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            from.randomElement(using: &random) ?? "a"
        }
    }

    private func plain(_ pattern: [String], _ topic: [String]) -> Bool {
        for (index, word) in pattern.enumerated() {
            if word == ">" { return topic.count > index }
            guard index < topic.count, word == "*" || word == topic[index] else { return false }
        }
        return topic.count == pattern.count
    }
}
