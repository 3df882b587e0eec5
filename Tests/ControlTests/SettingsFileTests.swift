import Control
import Testing

@Suite struct `The configuration file` {
    private func problem(_ text: String) -> String? {
        do {
            try SettingsFile.check(
                text, file: "a.yaml", known: ["socket", "admins", "kept", "most", "limits"],
                lists: ["admins"], counts: ["kept"], sizes: ["most"],
                sections: [
                    "limits": [
                        NumberSetting("screens", .things, 1...9),
                        NumberSetting("wait", .seconds, 0...60),
                        NumberSetting("bytes", .bytes, 64...2 << 20),
                    ]
                ])
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `takes words, lists and counts where they belong`() {
        #expect(problem("socket: /run/x\nadmins: [alice, '@staff']\nkept: 10\nmost: 2G") == nil)
        #expect(problem("limits: {screens: 9, wait: 0, bytes: 2M}") == nil)
        #expect(problem("limits:\n  bytes: 64") == nil)
    }

    @Test(arguments: ["", "# nothing", "---", "--- # nothing\n", "\n\n"])
    func `sets nothing where it holds comments alone`(_ text: String) throws {
        #expect(try SettingsFile.check(text, file: "a.yaml", known: []) == [:])
    }

    @Test func `says where each key stands`() throws {
        let lines = try SettingsFile.check(
            "# a\nsocket: /run/x\n\nadmins:\n  - alice", file: "a.yaml",
            known: ["socket", "admins"], lists: ["admins"])
        #expect(lines == ["socket": 2, "admins": 5])
    }

    @Test(arguments: [
        (
            "admins: alice",
            "a.yaml:1:9: admins: expected a list of words, such as [one, two], found 'alice'"
        ),
        ("socket: [a]", "a.yaml:1:9: socket: expected one word, found a list"),
        ("socket: 5", "a.yaml:1:9: socket: expected one word, found '5'"),
        ("kept: many", "a.yaml:1:7: kept: expected a whole number, 0 or more, found 'many'"),
        ("kept: -1", "a.yaml:1:7: kept: expected a whole number, 0 or more, found '-1'"),
        (
            "most: 2",
            "a.yaml:1:7: most: expected a size, such as 512M or 2G, or infinity, found '2'"
        ),
        (
            "most: 0M",
            "a.yaml:1:7: most: expected a size, such as 512M or 2G, or infinity, found '0M'"
        ),
        (
            "limits:\n  screens: 0",
            "a.yaml:2:12: limits.screens: expected a whole number from 1 to 9, found '0'"
        ),
        (
            "limits: {wait: 61}",
            "a.yaml:1:16: limits.wait: expected seconds, a whole number from 0 to 60, found '61'"
        ),
        (
            "limits: {bytes: 3M}",
            "a.yaml:1:17: limits.bytes: expected a size from 64 to 2M, in bytes or such as 64K or 2M, "
                + "found '3M'"
        ),
        (
            "limits: {screens: [5]}",
            "a.yaml:1:19: limits.screens: expected a whole number from 1 to 9, found a list"
        ),
        (
            "limits:\n  screns: 5",
            "a.yaml:2:3: unknown key 'screns' in limits (did you mean 'screens'?)"
        ),
        ("limits: 5", "a.yaml:1:9: limits: expected a mapping, found '5'"),
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
