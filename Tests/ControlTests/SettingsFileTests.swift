import Control
import Testing

@Suite struct `The configuration file` {
    private func problem(_ text: String) -> String? {
        do {
            try SettingsFile.check(
                text, file: "a.yaml", known: ["socket", "admins", "kept"], lists: ["admins"],
                counts: ["kept"])
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `takes words, lists and counts where they belong`() {
        #expect(problem("socket: /run/x\nadmins: [alice, '@staff']\nkept: 10") == nil)
        #expect(problem("") == nil)
    }

    @Test(arguments: [
        ("admins: alice", "a.yaml:1:9: admins: expected a list of words, such as [one, two]"),
        ("socket: [a]", "a.yaml:1:9: socket: expected one word"),
        ("socket: 5", "a.yaml:1:9: socket: expected one word"),
        ("kept: many", "a.yaml:1:7: kept: expected a whole number, 0 or more"),
        ("kept: -1", "a.yaml:1:7: kept: expected a whole number, 0 or more"),
        ("sokcet: x", "a.yaml:1:1: unknown key 'sokcet' (did you mean 'socket'?)"),
    ])
    func `refuses what would silently do nothing`(_ text: String, _ expected: String) {
        #expect(problem(text) == expected)
    }
}
