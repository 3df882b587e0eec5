import Foundation
import TestSupport
import Testing

extension Stories {
    /// `atriumctl open` on a terminal.
    @Suite struct AtTerminal {
        private static let open = "atriumctl open films"

        @Test func `two side by side: what one votes and says, the other sees`() async throws {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await Tmux.run(Self.open, columns: 100, name: "two", on: daemon) { two in
                        try await one.shows("1 of 125")
                        try await two.shows("1 of 125")
                        try await one.type("j5")
                        try await one.shows("voted 5 on 2001: A Space Odyssey")
                        try await two.shows("5 (1)")
                        try await two.type("jc")
                        try await two.shows("Your comment on 2001")
                        try await two.type("Open the pod bay doors.")
                        try await two.press("Enter")
                        try await two.shows("· 1 comment ")
                        try await one.press("Enter")
                        try await one.shows("Open the pod bay doors.")
                        try await one.type("tr")
                        try await one.type("I am afraid I can not do that.")
                        try await one.press("Enter")
                        try await two.shows("I am afraid")
                        try await one.type("u")
                        try await two.drops("5 (1)")
                    }
                }
            }
        }

        @Test func `it is searched, filtered and sorted by keys alone`() async throws {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.type("/zzz")
                    try await one.shows("nothing matches 'zzz'")
                    try await one.press("Escape")
                    try await one.shows("1 of 125")
                    try await one.type("f/west")
                    try await one.shows("[ ] western")
                    try await one.press("Enter")
                    try await one.shows("[✓] western")
                    try await one.press("Escape", "Escape")
                    try await one.shows("1 of 2")
                    try await one.shows("Genre: western")
                    try await one.type("sG")
                    try await one.press("Enter")
                    try await one.shows("sort: comments.count↓")
                    try await one.type("x")
                    try await one.shows("1 of 125")
                    try await one.type("G")
                    try await one.shows("125 of 125")
                    try await one.type("q")
                    try await one.shows("ended with 0")
                }
            }
        }

        @Test func `the list goes on beyond what a screen holds`() async throws {
            try await withFilms { daemon in
                let many = try await daemon.type(
                    "for i in $(seq 1001 3500); do echo "
                        + "'{\"id\":\"n'$i'\",\"fields\":{\"title\":\"Film '$i'\"}}'; done >many && "
                        + "atriumctl import films many")
                #expect(many.status == 0, "\(many)")
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.shows("1 of 2,625")
                    try await one.type("G")
                    try await one.shows("2,625 of 2,625")
                    try await one.type("g")
                    try await one.shows("1 of 2,625")
                }
            }
        }

        @Test func `a moderator holds one comment back and removes another`() async throws {
            try await withFilms { daemon in
                _ = try await daemon.type("atriumctl comment films/12-angry-men-1957 Eggs!")
                _ = try await daemon.type("atriumctl comment films/12-angry-men-1957 Spam!")
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.press("Enter")
                    try await one.shows("Spam!")
                    try await one.type("tm")
                    try await one.shows("Hold it back")
                    try await one.type("j")
                    try await one.press("Enter")
                    try await one.shows("the comment is held back")
                    // Its author is the one who looks.
                    try await one.shows("waits for a moderator")
                    try await one.type("km")
                    try await one.shows("Remove it")
                    try await one.type("jj")
                    try await one.press("Enter")
                    try await one.shows("The reason")
                    try await one.type("advertising")
                    try await one.press("Enter")
                    try await one.shows("the comment is removed")
                    try await one.shows("reason: advertising")
                    try await one.drops("Spam!")
                }
            }
        }

        @Test func `others' text drives no terminal, whatever it is`() async throws {
            try await withFilms { daemon in
                let put = try await daemon.type(
                    #"""
                    printf '%s' '{"id":"0","fields":{"title":"\u001b[2J\u009b31m東京 שלום 👨‍👩‍👧"}}' >odd &&
                    atriumctl import films odd &&
                    atriumctl comment films/0 "$(printf '\033]0;mine\007'; yes word | head -n 600 | tr '\n' ' ')"
                    """#)
                #expect(put.status == 0, "\(put)")
                try await Tmux.run(Self.open, rows: 15, columns: 40, on: daemon) { one in
                    try await one.shows("u{1b}[2J")
                    try await one.press("Enter")
                    try await one.shows("word word")
                    try await one.type("tG")
                    try await one.shows("? help")
                    #expect(try await one.value("pane_title") != "mine")
                }
            }
        }

        @Test func `a daemon that goes away is waited for, with what it showed`() async throws {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.type("/alien")
                    try await one.shows("1 of 2")
                    try await one.press("Enter")
                    try await daemon.kill()
                    try await one.shows("reconnecting…")
                    try await one.shows("Aliens")
                    try await daemon.start()
                    try await one.drops("reconnecting…")
                    try await one.shows("1 of 2")
                }
            }
        }

        @Test(arguments: ["INT", "TERM", "HUP", "QUIT", "SEGV", "ILL", "TRAP", "ABRT"])
        func `the terminal is left as it was, however it ends`(signal: String) async throws {
            try await withFilms { daemon in
                let line =
                    "export SWIFT_BACKTRACE=enable=no; ulimit -c 0; stty -g >before; \(Self.open); ended=$?; stty -g >after; "
                    + "cmp before after && echo unchanged; (exit $ended)"
                try await Tmux.run(line, on: daemon) { one in
                    try await one.shows("1 of 125")
                    #expect(try await one.value("alternate_on") == "1")
                    let shell = try await one.value("pane_pid")
                    let sent = try await daemon.type("pkill -\(signal) -P \(shell)")
                    #expect(sent.status == 0, "\(sent)")
                    try await one.shows("unchanged")
                    #expect(try await one.value("alternate_on") == "0")
                    let number = try await daemon.type("kill -l \(signal)")
                    let status = 128 + (Int(number.output.dropLast()) ?? 0)
                    try await one.shows("ended with \(status)")
                }
            }
        }

        @Test func `it is stopped and goes on, and takes any size at any moment`() async throws {
            try await withFilms { daemon in
                let interactive = "set -m; \(Self.open); stty -a >stopped; fg"
                try await Tmux.run(interactive, on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.press("C-z")
                    // The shell has it go on.
                    let stopped = daemon.home.path + "/stopped"
                    try await until { FileManager.default.fileExists(atPath: stopped) }
                    try await one.shows("1 of 125")
                    for (rows, columns) in [(15, 40), (100, 300), (2, 5), (24, 80)] {
                        try await one.resize(rows: rows, columns: columns)
                    }
                    try await one.shows("? help")
                    try await one.type("j")
                    try await one.shows("2 of 125")
                    try await one.type("q")
                    try await one.shows("ended with 0")
                }
            }
        }

        @Test func `nothing is written when nothing changes, and little for a changed row`()
            async throws
        {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, rows: 40, columns: 120, on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.tmux("pipe-pane -O 'cat >written'")
                    func written() throws -> Int {
                        try Data(contentsOf: URL(filePath: daemon.home.path + "/written")).count
                    }
                    func step(_ keys: String, _ shown: String) async throws -> Int {
                        let before = (try? written()) ?? 0
                        try await one.type(keys)
                        try await one.shows(shown)
                        // What tmux shows it may not have piped to the end.
                        var (last, since) = (before, ContinuousClock.now)
                        try await until {
                            let now = (try? written()) ?? before
                            if now != last { (last, since) = (now, .now) }
                            return last > before && .now - since > .milliseconds(100)
                        }
                        return last - before
                    }
                    _ = try await step("j", "2 of 125")
                    let once = try await step("j", "3 of 125")
                    _ = try await step("k", "2 of 125")
                    // Keys without a meaning draw nothing.
                    let again = try await step("zzZZyyj", "3 of 125")
                    #expect(again == once && once <= 400, "\(once), then \(again) bytes")
                    // What changes out of sight draws nothing: the same keys write the same bytes before and after.
                    func downAndUp() async throws -> Int {
                        try await step("k", "2 of 125") + step("j", "3 of 125")
                    }
                    let known = try await downAndUp()
                    let far = try await daemon.type(
                        "atriumctl vote films/$(atriumctl list films -o ids | sed -n 90p) 5")
                    #expect(far.status == 0, "\(far)")
                    let silent = try await downAndUp() + downAndUp()
                    #expect(silent == 2 * known, "\(silent), and \(known) at first")
                    let before = try written()
                    _ = try await daemon.type("atriumctl vote films/city-lights-1931 5")
                    try await one.shows("5 (1)")
                    try await until { try written() > before }
                    let voted = try written() - before
                    #expect(voted <= 400, "\(voted) bytes")
                }
            }
        }
    }
}
