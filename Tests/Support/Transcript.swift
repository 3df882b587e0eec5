import Foundation

/// The commands of a page, in their order, and what the page says that they print.
///
/// - A block ```` ```console ```` holds commands: `# ` as root, `$ ` as whoever ``member`` names. In a block
///   ```` ```console fails ```` each of them fails. One that is `covered-by=` another test is left to that.
/// - A block ```` ```console installed ```` holds what root types where the package is installed: ``installed``.
/// - `<!-- story: COMMAND -->` prepares what follows, as root.
/// - `<!-- as USER -->` says who types `$ ` in the next block.
public struct Transcript {
    /// A command, and the lines below it.
    public struct Step {
        /// Who types it.
        public let user: String
        /// A line of shell.
        public let command: String
        /// Whether it is to fail.
        public let fails: Bool
        /// The lines that the page shows below it.
        public fileprivate(set) var printed: [String] = []
    }

    /// The commands, in their order.
    public private(set) var steps: [Step] = []
    /// What root types where the package is installed, which is not among the steps.
    public private(set) var installed: [String] = []
    private let member: String

    /// Reads a page of Markdown.
    ///
    /// - Parameters:
    ///   - page: its text.
    ///   - member: who types `$ `, unless the page says otherwise.
    public init(of page: String, member: String) {
        self.member = member
        var user = member
        var block: Substring?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /<!-- story: (.*) -->/) {
                steps.append(Step(user: "root", command: String(match.1), fails: false))
            } else if let match = line.wholeMatch(of: /<!-- as (.*) -->/) {
                user = String(match.1)
            } else if line.hasPrefix("```") {
                if block != nil { user = member }
                block = block == nil ? line.dropFirst(3) : nil
            } else if let block, block == "console" || block == "console fails" {
                take(line, fails: block == "console fails", by: user)
            } else if block == "console installed", line.hasPrefix("# ") {
                installed.append(String(line.dropFirst(2)))
            }
        }
    }

    private mutating func take(_ line: Substring, fails: Bool, by user: String) {
        if line.hasPrefix("# ") {
            steps.append(Step(user: "root", command: String(line.dropFirst(2)), fails: fails))
        } else if line.hasPrefix("$ ") {
            steps.append(Step(user: user, command: String(line.dropFirst(2)), fails: fails))
        } else if !line.isEmpty, !steps.isEmpty {
            steps[steps.count - 1].printed.append(String(line))
        }
    }
}

extension Transcript.Step {
    /// The first line that the command should have printed and did not.
    ///
    /// Lines stand in their order; `…` in a line stands for anything, and on a line of its own for any lines.
    public func missing(in text: String) -> String? {
        var rest = text.split(separator: "\n").map(String.init)[...]
        for line in printed where line != "…" {
            guard let found = rest.firstIndex(where: { Self.matches($0, line) }) else {
                return line
            }
            rest = rest[(found + 1)...]
        }
        return nil
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
