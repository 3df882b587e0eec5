import Foundation
import Testing

/// The commands of `docs/operating.md`, run in their order on a machine of their own.
@Suite(Machine.boots)
struct GuideStory {
    /// A command of the guide, and what stands below it.
    private struct Step {
        let user: String
        let command: String
        let fails: Bool
        var printed: [String] = []
    }

    /// The steps of the guide, and what the test does between them.
    ///
    /// - A block ```` ```console ```` holds commands: `# ` as root, `$ ` as a member of the group.
    ///   ```` ```console fails ```` means that each of them does. One that is `covered-by=` another
    ///   test is left to that.
    /// - `<!-- story: COMMAND -->` prepares what follows, as root.
    /// - `<!-- as USER -->` says who types `$ ` in the next block.
    private static func steps(of guide: String) -> [Step] {
        var steps: [Step] = []
        var member = "atrium-member"
        var block: Substring?
        for line in guide.split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /<!-- story: (.*) -->/) {
                steps.append(Step(user: "root", command: String(match.1), fails: false))
            } else if let match = line.wholeMatch(of: /<!-- as (.*) -->/) {
                member = String(match.1)
            } else if line.hasPrefix("```") {
                if block != nil { member = "atrium-member" }
                block = block == nil ? line.dropFirst(3) : nil
            } else if let block, block == "console" || block == "console fails" {
                take(line, of: block, by: member, into: &steps)
            }
        }
        return steps
    }

    private static func take(
        _ line: Substring, of block: Substring, by member: String, into steps: inout [Step]
    ) {
        let fails = block == "console fails"
        if line.hasPrefix("# ") {
            steps.append(Step(user: "root", command: String(line.dropFirst(2)), fails: fails))
        } else if line.hasPrefix("$ ") {
            steps.append(Step(user: member, command: String(line.dropFirst(2)), fails: fails))
        } else if !line.isEmpty, !steps.isEmpty {
            steps[steps.count - 1].printed.append(String(line))
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `every command of the operator's guide does what the guide says`() async throws {
        let guide = try String(contentsOfFile: Machine.root + "docs/operating.md", encoding: .utf8)
        let steps = Self.steps(of: guide)
        #expect(steps.count > 60)
        var story = """
            step() {
                runuser -u "$2" -- bash -c "$(cat)" >/tmp/printed 2>&1 </dev/null
                tell status-$1 $?
                tell printed-$1 $(head -c 20000 /tmp/printed | base64 -w0)
            }
            cd /

            """
        for (number, step) in steps.enumerated() {
            story += "step \(number) \(step.user) <<'STEP'\n\(step.command)\nSTEP\n"
        }
        let told = try await Machine.play(story, within: 230)
        for (number, step) in steps.enumerated() {
            let printed = Self.text(told["printed-\(number)"])
            let status = told["status-\(number)"].flatMap { Int($0) }
            #expect(
                step.fails ? (status ?? 0) != 0 : status == 0,
                "\(step.command): \(status as Any)\n\(printed)")
            Self.expect(step.printed, in: printed, of: step.command)
        }
    }

    private static func text(_ encoded: String?) -> String {
        let data = encoded.flatMap { Data(base64Encoded: $0) } ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// Expects lines in their order, each `…` standing for anything; a line of its own for any lines.
    private static func expect(_ lines: [String], in printed: String, of command: String) {
        var rest = printed.split(separator: "\n").map(String.init)[...]
        for line in lines where line != "…" {
            let found = rest.firstIndex { matches($0, line) }
            #expect(found != nil, "\(command) prints no '\(line)' there:\n\(printed)")
            if let found { rest = rest[(found + 1)...] }
        }
    }

    private static func matches(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        var rest = line.trimmingCharacters(in: .whitespaces)[...]
        for (index, part) in parts.enumerated() where !part.isEmpty {
            let part = part.trimmingCharacters(in: .whitespaces)
            guard let range = rest.range(of: part) else { return false }
            if index == 0, range.lowerBound != rest.startIndex { return false }
            rest = rest[range.upperBound...]
        }
        return parts.last?.isEmpty == true || rest.isEmpty
    }
}
