import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// One rule for exit statuses, which the man page has.
    @Suite struct ExitStatuses {
        /// What works on files of this machine first, or alone.
        private static let local = [
            "init": 1, "apply": 1, "import": 1, "plugin new": 0,
            // Where ATRIUM_SOCKET names a daemon, the folder of its store has to be named, too.
            "restore": 2,
            // Without a terminal vi is not started.
            "atriumctl edit films": 2,
        ]

        @Test func `every command keeps to the rule`() async throws {
            try await withDaemon { daemon in
                let known = try await daemon.type("atriumctl --experimental-dump-help").json
                let commands = Self.commands(below: known["command"], [])
                #expect(commands.count > 50)
                var script = "export ATRIUM_SOCKET=/nowhere/at.all\n"
                for command in commands {
                    let name = command.path.joined(separator: " ")
                    script += Self.step("atriumctl \(name) --no-such-option")
                    script += command.examples.map(Self.step).joined()
                }
                let typed = try await daemon.type(script)
                var results = typed.lines[...]
                for command in commands {
                    let name = command.path.joined(separator: " ")
                    #expect(results.popFirst() == "2 1", "\(name) --no-such-option")
                    for example in command.examples {
                        let wanted =
                            Self.local[example] ?? Self.local[name]
                            ?? (example.contains("plugin new") ? 0 : 3)
                        #expect(
                            results.popFirst() == "\(wanted) \(wanted == 0 ? 0 : 1)", "\(example)")
                    }
                }
                #expect(results.isEmpty, "\(typed)")
            }
        }

        /// Prints the status of a line of shell in an empty folder, and 1 if it said on standard error what was wrong.
        private static func step(_ line: String) -> String {
            let line = line.split(separator: " |")[0]
            return """
                (cd "$(mktemp -d)"; \(line)) </dev/null >/dev/null 2>said; status=$?
                [ -s said ] && said=1 || said=0; echo $status $said

                """
        }

        private struct Command {
            let path: [String]
            let examples: [String]
        }

        /// The commands that do something, with the examples of their help.
        private static func commands(below command: JSONValue?, _ path: [String]) -> [Command] {
            (command?["subcommands"]?.array ?? []).flatMap { command -> [Command] in
                let name = command["commandName"]?.string ?? ""
                guard name != "help" else { return [] }
                let (path, deeper) = (path + [name], commands(below: command, path + [name]))
                guard deeper.isEmpty else { return deeper }
                let text = command["discussion"]?.string?.split(separator: "Examples:\n").last ?? ""
                let lines = text.split(separator: "\n").filter { $0.hasPrefix("    ") }
                return [Command(path: path, examples: lines.map { String($0.dropFirst(4)) })]
            }
        }
    }
}
