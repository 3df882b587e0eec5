import Foundation
import LogMessages
import TestSupport
import Testing

/// What `journalctl -x` says about the daemon's messages.
@Suite(.timeLimit(.minutes(3)))
struct MessageCatalogTests {
    private static let journalctl = "/usr/bin/journalctl"
    private static let file = Repository.root.appending(path: "systemd/atrium.catalog")

    /// One entry: its header's lines, and the text for people.
    private struct Entry {
        let header: [String: String]
        let text: String

        /// The journal's fields that stand in it, without `ATRIUM_`.
        var fields: Set<String> {
            Set(
                (header.values + [text]).flatMap { $0.matches(of: /@ATRIUM_([A-Z_]+)@/) }.map {
                    String($0.1)
                })
        }
    }

    private func entries() throws -> [String: Entry] {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let pairs = text.split(separator: #/(?m)^-- /#).dropFirst().map { part in
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false).map(
                String.init)
            let header = lines.dropFirst().prefix { !$0.isEmpty }
            let fields = header.map { line in
                let words = line.split(separator: ": ", maxSplits: 1).map(String.init)
                return (words[0], words.count > 1 ? words[1] : "")
            }
            let text = lines.dropFirst(header.count + 1).joined(separator: "\n")
            return (lines[0], Entry(header: Dictionary(uniqueKeysWithValues: fields), text: text))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test func `every message has an entry, and every entry a message`() throws {
        let entries = try entries()
        #expect(Set(entries.keys) == Set(LogMessage.allCases.map(\.rawValue)))
        for (id, entry) in entries {
            #expect(Set(entry.header.keys) == ["Subject", "Defined-By", "Documentation"], "\(id)")
            #expect(entry.header["Defined-By"] == "Atrium")
            let lines = entry.text.split(separator: "\n")
            #expect(!lines.isEmpty, "\(id) says nothing")
        }
    }

    @Test func `every number is one that systemd makes`() {
        for message in LogMessage.allCases {
            // A random UUID of version 4, without its hyphens.
            let isUUID = message.rawValue.wholeMatch(
                of: /[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}/)
            #expect(isUUID != nil, "\(message)")
        }
    }

    @Test func `every message is logged by somebody who knows the fields that its entry shows`()
        throws
    {
        let entries = try entries()
        let files = try Repository.swiftFiles(below: ["Sources"]).map {
            (
                module: Repository.name(of: $0).split(separator: "/")[1],
                text: try String(contentsOf: $0, encoding: .utf8),
                isList: $0.lastPathComponent == "LogMessage.swift"
            )
        }
        for message in LogMessage.allCases {
            let name = try Regex("\\.\(message)\\b")
            let modules = Set(
                files.filter { !$0.isList && $0.text.contains(name) }.map(\.module))
            #expect(!modules.isEmpty, "nobody logs \(message)")
            let texts = files.filter { modules.contains($0.module) || $0.module == "LogMessages" }
            let keys = texts.flatMap { $0.text.matches(of: /"([a-z][a-z-]*)"(\] =|:)/) }.map {
                $0.1.replacing("-", with: "_").uppercased()
            }
            let unknown = entries[message.rawValue]?.fields.subtracting(keys) ?? []
            #expect(unknown.isEmpty, "\(message)")
        }
    }

    @Test func `fields are named in lower case with hyphens, as the journal's in upper case`()
        throws
    {
        for file in try Repository.swiftFiles(below: ["Sources"]) {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("import Logging") else { continue }
            for match in text.matches(of: /metadata: \[\s*"([^"]*)"/) {
                let isNamed = match.1.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil
                #expect(isNamed, "\(Repository.name(of: file)): \(match.1)")
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: journalctl), "no journalctl"))
    func `journalctl takes every entry of the catalog`() async throws {
        let root = try TemporaryDirectory()
        try root.write("usr/lib/systemd/catalog/atrium.catalog", try Data(contentsOf: Self.file))
        let option = "--root=\(root.path)"
        let update = try await run([Self.journalctl, option, "--update-catalog"])
        #expect(update.status == 0)
        #expect(update.errors == "")
        let listed = try await run([Self.journalctl, option, "--list-catalog"])
        let ids = listed.lines.map { String($0.prefix(32)) }
        #expect(Set(ids) == Set(LogMessage.allCases.map(\.rawValue)))
    }
}
