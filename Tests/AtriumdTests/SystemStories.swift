import Foundation
import TestSupport
import Testing

extension Stories {
    /// The README, and the systems of `docs/systems`: what their pages say is typed, in a shell a page, and what they show is printed.
    @Suite struct Systems {
        private static let pages = Checkout.root + "/docs/systems"

        private static var names: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: pages)
                    .filter { $0.hasSuffix(".md") }.sorted()
            }
        }

        @Test(arguments: try names)
        func `three commands are enough where Atrium is installed`(page: String) async throws {
            let text = try String(contentsOfFile: "\(Self.pages)/\(page)", encoding: .utf8)
            let commands = Transcript(of: text, member: "who reads").installed
            #expect(commands.count == 3)
            try await withDaemon { daemon in
                let typed = try await daemon.type(Self.script(installed: commands))
                #expect(typed.status == 0, "\(typed)")
                #expect(typed.output.contains(" · revision 1\n"), "\(typed)")
            }
        }

        @Test(arguments: try names)
        func `every command of a system's page does what the page shows`(
            page: String
        ) async throws {
            try await Self.follow("\(Self.pages)/\(page)")
        }

        @Test func `the README's commands do what it shows, in its order`() async throws {
            try await Self.follow(Checkout.root + "/README.md")
        }

        @Test(.timeLimit(.minutes(8)))
        func `the guide to plugins goes from nothing to a plugin that votes`() async throws {
            try await Self.follow(Checkout.root + "/docs/plugins.md")
        }

        private static func follow(_ page: String) async throws {
            let text = try String(contentsOfFile: page, encoding: .utf8)
            let steps = Transcript(of: text, member: "who reads").steps
            #expect(steps.count >= 3)
            try await withDaemon { daemon in
                let typed = try await daemon.type(script(of: steps, on: page))
                let told = typed.output.split(separator: "\u{1e}", omittingEmptySubsequences: false)
                try #require(told.count == steps.count, "\(typed)")
                for (step, told) in zip(steps, told) {
                    let end = try #require(told.lastIndex(of: "\u{1f}"))
                    let (printed, status) = (String(told[..<end]), told[told.index(after: end)...])
                    #expect((status == "0") != step.fails, "\(step.command): \(status)\n\(printed)")
                    let missing = step.missing(in: printed)
                    #expect(
                        missing == nil,
                        "\(step.command) prints no '\(missing ?? "")' there:\n\(printed)")
                }
            }
        }

        /// A shell script that runs commands of who has installed the package, with a machine's folders in one of the test's.
        ///
        /// The last of them opens a container, and ends when that is shown.
        private static func script(installed commands: [String]) -> String {
            """
            cd "$(mktemp -d)" && mkdir -p share srv && cp -rL "$EXAMPLES" share/examples || exit 1
            port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); \
            print(s.getsockname()[1])')
            as_here() { sed "s,/usr/share/atrium/,$PWD/share/,g; s,/srv/,$PWD/srv/,g; s,847[0-9],$port,g"; }
            for file in $(grep -rlIE '/srv/|847[0-9]' share); do
                as_here <"$file" >here && cat here >"$file"
            done
            step() { eval "$(as_here)" </dev/null; }

            """
                + commands.dropLast().map { "step <<'STEP' || exit 1\n\($0)\nSTEP\n" }.joined()
                    + """
                    step <<'STEP' >opened &
                    exec \(commands.last ?? "false")
                    STEP
                    timeout 60 bash -c "until grep -q ' · revision 1$' opened; do sleep 0.1; done" || exit 1
                    kill %% && cat opened
                    kill $(jobs -p) 2>/dev/null
                    exit 0

                    """
        }

        /// A shell script that runs the steps in a copy of the checkout's examples.
        ///
        /// After each it prints U+001F and its status; between two U+001E.
        private static func script(of steps: [Transcript.Step], on page: String) -> String {
            var script = """
                README='\(page)'
                cd "$(mktemp -d)" && ln -s "$EXAMPLES" Examples
                step() { eval "$(cat)" </dev/null 2>&1; printf '\\037%s' $?; }

                """
            script += steps.enumerated().map { number, step in
                "step <<'STEP'\n\(step.command)\nSTEP\n"
            }.joined(separator: "printf '\\036'\n")
            // What a page left running ends, whatever it does with signals.
            return script + """
                kill $(jobs -p) 2>/dev/null
                for _ in {1..100}; do [ -n "$(jobs -rp)" ] || break; sleep 0.1; done
                kill -KILL $(jobs -p) 2>/dev/null
                wait
                exit 0

                """
        }
    }
}
