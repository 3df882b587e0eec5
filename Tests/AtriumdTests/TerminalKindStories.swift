import TestSupport
import Testing

extension Stories {
    /// `atriumctl open` with a mouse, and with keys that few press.
    @Suite struct AtOtherTerminals {
        private static let open = "atriumctl open films"

        @Test func `the mouse chooses and scrolls`() async throws {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.shows("1 of 125")
                    // As the terminal sends it: button, column and row from 33 on.
                    func send(_ button: String) async throws {
                        try await one.tmux("send-keys -H 1b 5b 4d \(button) 23 26")
                    }
                    try await send("20")
                    try await send("23")
                    try await one.shows("3 of 125")
                    try await send("61")
                    try await one.shows("6 of 125")
                    try await send("60")
                    try await one.shows("3 of 125")
                }
            }
        }

        @Test func `it has no colours for who wants none`() async throws {
            /// Whether a foreground or background colour stands on the terminal.
            func hasColours(_ one: Tmux) async throws -> Bool {
                // The fields that somebody sorts by are cyan.
                try await one.shows("sort: title")
                return try await one.tmux("capture-pane -e -p").contains(
                    /\u{1B}\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]/)
            }
            try await withFilms { daemon in
                try await Tmux.run("unset NO_COLOR; \(Self.open) --sort title", on: daemon) { one in
                    let isColoured = try await hasColours(one)
                    #expect(isColoured)
                }
                try await Tmux.run("NO_COLOR=1 \(Self.open) --sort title", on: daemon) { one in
                    let isColoured = try await hasColours(one)
                    #expect(!isColoured)
                }
            }
        }

        @Test func `a terminal that can't redraw gets lines, without any escape sequence`()
            async throws
        {
            try await withFilms { daemon in
                // `script` writes down what the program sends to its terminal.
                let line = "script -qec 'TERM=dumb \(Self.open)' sent"
                try await Tmux.run(line, on: daemon) { one in
                    try await one.shows("of 125")
                    try await one.press("C-c")
                    try await one.shows("ended with")
                }
                let sent = try await daemon.type("cat sent").output
                #expect(sent.contains("of 125") && !sent.contains("\u{1B}"), "\(sent)")
            }
        }

        @Test func `one's comment is edited, and a component is left out`() async throws {
            try await withFilms { daemon in
                try await Tmux.run(Self.open, on: daemon) { one in
                    try await one.shows("1 of 125")
                    try await one.type("cEggs")
                    try await one.press("Enter")
                    try await one.shows("· 1 comment ")
                    try await one.type("te")
                    try await one.shows("Your comment, edited")
                    try await one.type(" and ham")
                    try await one.press("Enter")
                    try await one.shows("· edited")
                    try await one.shows("Eggs and ham")
                    try await one.press("Escape")
                    try await one.type("w")
                    try await one.shows("[✓] Threads")
                    try await one.type("G")
                    try await one.press("Enter")
                    try await one.shows("[ ] Threads")
                    try await one.press("Escape")
                    try await one.drops("Eggs and ham")
                }
            }
        }
    }
}
