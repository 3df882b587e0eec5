import Control
import Testing

@Suite struct `The configuration file` {
    private func problem(_ text: String) -> String? {
        do {
            try SettingsFile.check(
                text, file: "a.yaml", known: ["socket", "admins", "kept", "most"],
                lists: ["admins"], counts: ["kept"], sizes: ["most"])
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `takes words, lists and counts where they belong`() {
        #expect(problem("socket: /run/x\nadmins: [alice, '@staff']\nkept: 10\nmost: 2G") == nil)
        #expect(problem("") == nil)
    }

    @Test(arguments: [
        ("admins: alice", "a.yaml:1:9: admins: expected a list of words, such as [one, two]"),
        ("socket: [a]", "a.yaml:1:9: socket: expected one word"),
        ("socket: 5", "a.yaml:1:9: socket: expected one word"),
        ("kept: many", "a.yaml:1:7: kept: expected a whole number, 0 or more"),
        ("kept: -1", "a.yaml:1:7: kept: expected a whole number, 0 or more"),
        ("most: 2", "a.yaml:1:7: most: expected a size, such as 512M or 2G, or infinity"),
        ("most: 0M", "a.yaml:1:7: most: expected a size, such as 512M or 2G, or infinity"),
        ("sokcet: x", "a.yaml:1:1: unknown key 'sokcet' (did you mean 'socket'?)"),
    ])
    func `refuses what would silently do nothing`(_ text: String, _ expected: String) {
        #expect(problem(text) == expected)
    }

    @Test func `sizes are counted in powers of 1,024`() {
        #expect(SettingsFile.bytes("512M") == 536_870_912)
        #expect(SettingsFile.bytes("1T") == 1 << 40)
        #expect(SettingsFile.bytes("infinity") == .max)
        for wrong in ["", "M", "1.5G", "-1M", "9999999999T", "512MB", "512"] {
            #expect(SettingsFile.bytes(wrong) == nil)
        }
    }
}
