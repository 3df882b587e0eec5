import TestSupport
import Testing

/// A terminal that somebody types at and looks at: a session of tmux, with a server of its own.
struct Tmux {
    let daemon: DaemonUnderTest
    let name: String

    /// Runs a command line in a terminal of its own, and ends that afterwards.
    ///
    /// When the command has ended, its last line tells how.
    static func run<Value>(
        _ line: String, rows: Int = 24, columns: Int = 80, name: String = "one",
        on daemon: DaemonUnderTest, _ story: (Tmux) async throws -> Value
    ) async throws -> Value {
        let tmux = Tmux(daemon: daemon, name: name)
        try daemon.home.write("\(name).sh", "\(line)\necho \"ended with $?\"\nexec cat\n")
        try await tmux.tmux(
            "-f /dev/null new-session -d -x \(columns) -y \(rows) 'exec bash \(name).sh'")
        do {
            let value = try await story(tmux)
            try await tmux.tmux("kill-server")
            return value
        } catch {
            Issue.record("the terminal '\(name)':\n\((try? await tmux.screen()) ?? "is gone")")
            _ = try? await tmux.tmux("kill-server")
            throw error
        }
    }

    /// What stands on it.
    func screen() async throws -> String { try await tmux("capture-pane -p") }

    /// Waits until something stands on it.
    func shows(_ text: String) async throws {
        try await until { try await screen().contains(text) }
    }

    /// Waits until something stands on it no longer.
    func drops(_ text: String) async throws {
        try await until { try await !screen().contains(text) }
    }

    /// Types a text.
    func type(_ text: String) async throws { try await tmux("send-keys -l -- '\(text)'") }

    /// Presses keys, by their names: `Enter`, `Escape`, `C-c`.
    func press(_ keys: String...) async throws {
        try await tmux("send-keys \(keys.joined(separator: " "))")
    }

    /// What tmux knows of it, such as `alternate_on`.
    func value(_ name: String) async throws -> String {
        try await tmux("display-message -p '#{\(name)}'").trimmingSuffix { $0 == "\n" }
    }

    /// Gives it another size.
    func resize(rows: Int, columns: Int) async throws {
        try await tmux("resize-window -x \(columns) -y \(rows)")
    }

    /// Runs a command of tmux.
    @discardableResult
    func tmux(_ words: String) async throws -> String {
        let done = try await daemon.type("tmux -S \(name).tmux -u \(words)")
        #expect(done.status == 0, "tmux \(words): \(done)")
        return done.output
    }
}

extension String {
    fileprivate func trimmingSuffix(_ drop: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, drop(last) { text.removeLast() }
        return text
    }
}
