import Foundation
import Testing

/// What the README shows is what there is: each block is run, or names the test that runs it.
///
/// That the commands of its transcripts do what it shows is a story of the daemon's tests.
struct ReadmeTests {
    private struct Block {
        let info: String
        let lines: [Substring]
    }

    private func page(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
    }

    private func blocks(of page: String) -> [Block] {
        page.matches(of: /(?ms)^```([^\n]*)\n(.*?)^```$/).map {
            Block(info: String($0.1), lines: $0.2.split(separator: "\n"))
        }
    }

    @Test func `every command of the README is run by a test`() throws {
        let text = try page("README.md")
        let all = blocks(of: text)
        #expect(all.count > 15)
        for block in all where block.info.isEmpty {
            // A drawing. What is typed stands in a transcript.
            #expect(block.lines.contains { $0.contains("│") }, "\(block.lines)")
        }
        let kinds = ["", "console", "console fails", "yaml", "swift"]
        for block in all where !block.info.hasPrefix("console covered-by=") {
            #expect(kinds.contains(block.info), "```\(block.info) is run by nothing")
        }
        for block in all where block.info.hasPrefix("console") {
            #expect(block.lines.first?.hasPrefix("$ ") == true, "\(block.lines)")
        }
        // The stories of a page read its definitions from it.
        let stories = text.matches(of: /<!-- story: awk .*"\$README"/).count
        #expect(all.filter { $0.info == "yaml" }.count == stories)
    }

    @Test func `what a page's transcripts leave to another test is left to one that there is`()
        throws
    {
        let tests = Set(
            try Repository.swiftFiles(below: ["Tests"]).map {
                $0.deletingPathExtension().lastPathComponent
            })
        let systems = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: "docs/systems").plainPath)
        let pages =
            ["README.md"] + systems.filter { $0.hasSuffix(".md") }.map { "docs/systems/\($0)" }
        var named = 0
        for name in pages {
            for match in try page(name).matches(of: /(?m)^```.*covered-by=(\S+)$/) {
                named += 1
                let file = Repository.root.appending(path: "Tests/\(match.1)").plainPath
                #expect(
                    tests.contains(String(match.1)) || FileManager.default.fileExists(atPath: file),
                    "\(name): \(match.1)")
            }
        }
        #expect(named > 8)
    }

    @Test func `the plugin in the README is the one that 'plugin new' makes`() throws {
        let template = try page("Sources/atriumctl/Templates/VotesTemplate.swift")
        let source = try #require(
            template.firstMatch(of: /(?s)static let source = ##"""\n(.*?)\n *"""##/)
        ).1
        let made = source.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.replacing(/^ {8}/, with: "")
        }.joined(separator: "\n")
            .replacing("{{Name}}", with: "Thumbs")
            .replacing("{{entry}}", with: "atrium_plugin_org_example_thumbs")
        let readme = try page("README.md")
        let shown = try #require(blocks(of: readme).first { $0.info == "swift" })
        #expect(
            made.split(separator: "\n", omittingEmptySubsequences: true) == shown.lines)
    }
}
