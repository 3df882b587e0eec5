import Foundation
import Instruments
import LogMessages
import Logging
import Testing

/// The operator's guide says of each setting, message and metric what it is.
///
/// That its commands work is a story of the systemd tests.
struct GuideTests {
    private func guide() throws -> String {
        try String(
            contentsOf: Repository.root.appending(path: "docs/operating.md"), encoding: .utf8)
    }

    /// The rows of the table whose header begins so, each cell without its backticks.
    private func table(_ header: String) throws -> [[String]] {
        let lines = try guide().split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("| \(header) |") })
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
        }
    }

    @Test func `every message is in the guide, with its level and number`() throws {
        let rows = try table("message").map { [$0[0], $0[1], $0[3]] }
        let messages = LogMessage.allCases.map { [$0.text, $0.level.rawValue, $0.rawValue] }
        #expect(Set(rows) == Set(messages))
        #expect(rows.count == messages.count)
    }

    @Test func `every metric is in the guide, with its kind and meaning`() throws {
        let rows = try table("metric").map { [$0[0], $0[1], $0[3] + "."] }
        let metrics = MetricCatalog.all.map { [$0.name, $0.kind.rawValue, $0.help] }
        #expect(Set(rows) == Set(metrics))
        #expect(rows.count == metrics.count)
    }

    @Test func `every setting is in the guide`() throws {
        let source = try String(
            contentsOf: Repository.root.appending(path: "Sources/atriumd/DaemonSettings.swift"),
            encoding: .utf8)
        let list = try #require(source.firstMatch(of: /static let keys = \[([^\]]*)\]/))
        let keys = list.1.matches(of: /"(\w+)"/).map { String($0.1) }
        #expect(keys.count > 5)
        let named = try table("key").flatMap { $0[0].split(separator: " ").map(String.init) }
        #expect(Set(named) == Set(keys))
        let limits = try table("limit").map { $0[0] }
        #expect(Set(limits) == Set(try Repository.limits()))
    }

    @Test func `what the guide's own test can't run is run by the test that it names`() throws {
        let blocks = try guide().matches(of: /(?m)^```console covered-by=(\S+)$/)
        #expect(!blocks.isEmpty)
        for block in blocks {
            let file = Repository.root.appending(path: String(block.1))
            #expect(FileManager.default.fileExists(atPath: file.plainPath), "\(block.1)")
        }
    }

    @Test func `every test that a guarantee names is there`() throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "docs/guarantees.md"), encoding: .utf8)
        let named = page.matches(of: /`(\w+(?:Tests|Stories))`: \*([^*]+)\*/)
        #expect(named.count > 30)
        let rows = page.matches(of: /(?m)^\| (?!promise |---).*$/).count
        #expect(rows < named.count)
        let tests = try Repository.swiftFiles(below: ["Tests"]).reduce(into: [String: String]()) {
            $0[$1.deletingPathExtension().lastPathComponent] = try String(
                contentsOf: $1, encoding: .utf8)
        }
        for test in named {
            let sentence = test.2.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let text = tests[String(test.1)] ?? ""
            #expect(text.contains("func `\(sentence)`"), "\(test.1): \(sentence)")
        }
    }
}
