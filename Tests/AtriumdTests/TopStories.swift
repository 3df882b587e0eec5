import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// `atriumctl top`.
    @Suite struct Top {
        /// Runs a command on a terminal of its own, and tells what comes to be seen there.
        ///
        /// Its arguments: rows, columns, how it is ended (a key, or a signal's name), the command. Each
        /// line that it reads is a text; once that was seen, a line tells it.
        private static let terminal = #"""
            import fcntl, os, pty, re, select, signal, struct, sys, termios
            rows, columns, end, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
            pid, master = pty.fork()
            if pid == 0:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.environ["TERM"] = "xterm"
                os.execvp(command[0], command)
            seen, last = "", b""
            def look():
                global seen, last
                if not select.select([master], [], [], 30)[0]:
                    sys.exit("nothing for 30 s; seen: " + repr(seen[-4000:]))
                try:
                    data = os.read(master, 65536)
                except OSError:
                    data = b""
                last = (last + data)[-200:]
                seen += data.decode(errors="replace")
                return data
            def frames():
                return [re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", f) for f in seen.split("\x1b[H")]
            for text in ["+org.atrium.Daemon.Metrics", "+trying again", "-trying again"]:
                meant, seen = text[1:], ""
                # The last frame but one is whole.
                while not any((meant in f) == (text[0] == "+") for f in frames()[1:-1]):
                    if not look(): sys.exit("ended; seen: " + repr(seen[-4000:]))
                frame = frames()[-2].rstrip().split("\r\n")
                fits = len(frame) <= rows and all(len(line) <= columns for line in frame)
                print(text, "fits" if fits else repr(frame), flush=True)
            quiet = not termios.tcgetattr(master)[3] & termios.ECHO
            print("quiet" if quiet else "echoes", flush=True)
            if end.startswith("SIG"): os.kill(pid, getattr(signal, end))
            else: os.write(master, end.encode())
            while b"\x1b[?1049l" not in last:
                if not look(): sys.exit("not given back: " + repr(last))
            status = os.waitpid(pid, 0)[1]
            loud = termios.tcgetattr(master)[3] & termios.ECHO
            shown = last.endswith(b"\x1b[?25h\x1b[?1049l")
            print("status", status, "echo" if loud else "no echo", shown, flush=True)
            """#

        // The status as waitpid has it: a signal's number, which a shell adds to 128.
        @Test(arguments: [("q", 0), ("\u{03}", 2), ("SIGTERM", 15)])
        func `on a terminal it is live, outlives a restart, and gives the terminal back`(
            end: String, status: Int
        ) async throws {
            try await withDaemon { daemon in
                try daemon.home.write("terminal.py", Self.terminal)
                try await daemon.follow(
                    "python3 terminal.py 18 60 '\(end)' atriumctl top --interval 0.1 2>&1"
                ) { lines in
                    #expect(try await lines.next() == "+org.atrium.Daemon.Metrics fits")
                    try await daemon.kill()
                    #expect(try await lines.next() == "+trying again fits")
                    try await daemon.start()
                    #expect(try await lines.next() == "-trying again fits")
                    #expect(try await lines.next() == "quiet")
                    #expect(try await lines.next() == "status \(status) echo True")
                }
            }
        }

        @Test(arguments: ["env -u TERM", "env TERM=", "env TERM=dumb", "env TERM=no-such-kind"])
        func `on a terminal that can't be drawn on it prints one report`(kind: String) async throws
        {
            try await withDaemon { daemon in
                let spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
                let report = try await daemon.type(
                    "python3 -c '\(spawn)' \(kind) atriumctl top --interval 0.2 </dev/null")
                #expect(report.status == 0, "\(report)")
                #expect(!report.output.contains("\u{1B}[?1049h"), "\(report)")
                #expect(report.output.contains("org.atrium.Daemon.Metrics"), "\(report)")
            }
        }

        @Test func `into a pipe it prints one report of one interval`() async throws {
            try await withFilms { daemon in
                let report = try await daemon.type("atriumctl top --interval 0.2")
                #expect(report.status == 0, "\(report)")
                #expect(!report.output.contains("\u{1B}"), "\(report)")
                for text in [
                    "atriumd ", "connections 1", "calls ", "sync p50 ", "notifications", "gaps 0",
                    "worker restarts 0", "METHOD", "org.atrium.Contents.Put",
                ] {
                    #expect(report.output.contains(text), "\(text): \(report)")
                }
                let busiest = #/METHOD.*\norg.atrium.Daemon.Metrics +\d/#
                #expect(report.output.contains(busiest), "\(report)")
                let json = try await daemon.type("atriumctl top --once --json")
                #expect(try json.json["metrics"]?.array?.isEmpty == false)
                #expect(try await daemon.type("atriumctl top --interval 0").status == 2)
            }
        }
    }
}
