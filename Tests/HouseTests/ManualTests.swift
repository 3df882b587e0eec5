import Foundation
import TestSupport
import Testing

/// The manual pages, as `make install` makes them.
@Suite(.timeLimit(.minutes(3)))
struct ManualTests {
    private static let pages = ["atriumctl.1", "atrium-worker.1", "atrium.yaml.5", "atriumd.8"]
    private static let hasReaders =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc")
        && FileManager.default.isExecutableFile(atPath: "/usr/bin/man")

    private struct Manual {
        private let root: TemporaryDirectory

        init() async throws {
            root = try TemporaryDirectory()
            let made = try await run([
                "make", "-C", Checkout.root, "lay-down", "DESTDIR=\(root.path)",
                "PREFIX=/usr/local", "PRODUCTS=\(Checkout.root)/.build/debug",
            ])
            try #require(made.status == 0, "\(made.errors)")
        }

        var program: String { root.path + "/usr/local/bin/atriumctl" }

        func file(_ page: String) -> String {
            "\(root.path)/usr/local/share/man/man\(page.suffix(1))/\(page)"
        }

        func text(_ page: String) async throws -> String {
            try await run(["mandoc", "-T", "utf8", "-O", "width=100", file(page)]).output
                // Bold and underlined, as a printer overstrikes.
                .replacing(/.\u{8}/, with: "")
        }
    }

    @Test(.enabled(if: hasReaders, "needs mandoc and man: `make test-deps` installs them"))
    func `mandoc and man have nothing to say about the pages`() async throws {
        let manual = try await Manual()
        for page in Self.pages {
            // What is not installed where the tests run is not found, and the version is wanted.
            let lint = try await run(["mandoc", "-T", "lint", manual.file(page)]).lines
                .filter {
                    !$0.contains("referenced manual not found") && !$0.contains("mandoc.db")
                        && !$0.contains("operating system explicitly specified")
                }
            #expect(lint == [], "\(page)")
            let shown = try await run(
                ["man", "--warnings", "-E", "UTF-8", "-l", manual.file(page)],
                environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80"])
            #expect(shown.status == 0)
            #expect(shown.errors == "", "\(page)")
            #expect(shown.output.count > 500)
        }
    }

    @Test(.enabled(if: hasReaders, "needs mandoc and man: `make test-deps` installs them"))
    func `every command and every setting is in the manual`() async throws {
        let manual = try await Manual()
        let help = try await run([manual.program, "--help"])
        let commands = help.output.matches(of: #/\n  ([a-z][a-z-]+) /#)
        #expect(commands.count > 25)
        let page = try await manual.text("atriumctl.1")
        for command in commands {
            #expect(page.contains("\n     \(command.output.1)"), "\(command.output.1)")
        }
        let source = Repository.root.appending(path: "Sources/atriumd/DaemonSettings.swift")
        let table = try #require(
            try String(contentsOf: source, encoding: .utf8)
                .firstMatch(of: #/static let keys = \[([^\]]*)\]/#))
        let keys = table.output.1.matches(of: #/"(\w+)"/#).map { String($0.output.1) }
        #expect(keys.count >= 10)
        let settings = try await manual.text("atrium.yaml.5")
        let example = try String(
            contentsOf: Repository.root.appending(path: "packaging/atrium.yaml"), encoding: .utf8)
        for key in keys {
            #expect(settings.contains("\n     \(key): "), "\(key)")
            #expect(
                ["\n#\(key): ", "\n\(key): ", "\n#\(key):\n"].contains(where: example.contains),
                "\(key)")
        }
        let limits = try Repository.limits()
        #expect(limits.count > 10)
        for limit in limits {
            #expect(settings.contains("\n     \(limit): "), "\(limit)")
            #expect(example.contains("\n#  \(limit): "), "\(limit)")
        }
    }

    @Test func `the daemon's help, its manual and its source agree on how it ends`() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        }
        let known = try text("Sources/atriumd/StartFailure.swift").matches(of: #/case \w+ = (\d+)/#)
            .map { String($0.output.1) }
        #expect(known.count > 5)
        let all = Set(known + ["0", "1", "64"])
        let page = try text("docs/man/atriumd.8").split(separator: ".Sh EXIT STATUS")
        let told = try #require(page.last?.split(separator: ".Sh EXAMPLES").first)
        #expect(Set(told.matches(of: #/\.It (\d+)/#).map { String($0.output.1) }) == all)
        let help = try text("Sources/atriumd/Atriumd.swift").split(separator: "Ends with 0")
        let ends = try #require(help.last?.split(separator: "\"\"\"").first)
        #expect(Set(ends.matches(of: #/\d+/#).map { String($0.output) } + ["0"]) == all)
    }

    @Test func `the changelogs are of the version that the programs print, by one maintainer`()
        throws
    {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        }
        let source = try text("Sources/Interfaces/AtriumVersion.swift")
        let version = try #require(source.firstMatch(of: #/current = "([^"]+)"/#)?.output.1)
        let changelog = try text("debian/changelog")
        #expect(changelog.hasPrefix("atrium (\(version)-"))
        // The newest heading but that of what is to come.
        let headings = try text("CHANGELOG.md").matches(of: #/\n## (\S+)\n/#).map(\.output.1)
        #expect(headings.first { $0 != "Unreleased" } == version)
        let control = try text("debian/control")
        let maintainer = try #require(control.firstMatch(of: #/\nMaintainer: (.+ <\S+@\S+>)\n/#))
        #expect(changelog.contains("\n -- \(maintainer.output.1)  "))
    }
}
