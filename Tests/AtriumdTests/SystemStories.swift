import Foundation
import TestSupport
import Testing

extension Stories {
    /// The README, and the systems of `docs/systems`: what their pages say is typed, in a shell a page, and what they show is printed.
    @Suite struct Systems {
        private static let pages = Checkout.root + "/docs/systems"

        @Test(
            arguments: try FileManager.default.contentsOfDirectory(atPath: pages)
                .filter { $0.hasSuffix(".md") }.sorted())
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
