import Foundation
import TestSupport
import Testing

/// `make install` and `make uninstall`, with the programs that the tests were built with.
@Suite(.timeLimit(.minutes(3)))
struct InstallTests {
    /// A folder to install into, with what others have there.
    private final class Place {
        private let folder: TemporaryDirectory
        private let prefix: String

        var root: URL { folder.url }

        init(prefix: String = "/usr/local") throws {
            folder = try TemporaryDirectory()
            self.prefix = prefix
            for path in ["usr/local/bin/other", "etc/atrium/atrium.yaml", "var/lib/atrium/store"] {
                try folder.write(path, path)
            }
        }

        /// Makes a target without building anything.
        func make(_ target: String) async throws -> Finished {
            try await run([
                "make", "--no-print-directory", "-C", Checkout.root, target,
                "DESTDIR=\(root.plainPath)", "PREFIX=\(prefix)",
                "PRODUCTS=\(Checkout.root)/.build/debug",
            ])
        }

        func install() async throws {
            let made = try await make("lay-down")
            try #require(made.status == 0, "\(made.errors)")
        }

        /// All there is, with kind, mode and, where wanted, the time of the last change.
        func listing(times: Bool = false) async throws -> [String] {
            try await run([
                "find", root.plainPath, "-printf", times ? "%P %y %m %T@\n" : "%P %y %m\n",
            ]).lines.sorted()
        }

        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
    }

    @Test func `a second install changes nothing, and uninstall leaves what was there before`()
        async throws
    {
        let place = try Place()
        let before = try await place.listing()
        try await place.install()
        let first = try await place.listing(times: true)
        #expect(first.count > before.count + 60)
        try await place.install()
        #expect(try await place.listing(times: true) == first)
        let gone = try await place.make("uninstall")
        #expect(gone.status == 0, "\(gone.errors)")
        #expect(try await place.listing() == before)
        #expect(try await place.make("uninstall").status == 0, "there is nothing left to do")
    }

    @Test func `an install takes away what an older one put down and it does not`() async throws {
        let place = try Place()
        let before = try await place.listing()
        try await place.install()
        let list = "usr/local/lib/atrium/installed"
        let old = "usr/local/lib/systemd/system/atrium-old.service"
        try Data().write(to: place.root.appending(path: old))
        try (try place.text(list) + "file /\(old)\n").write(
            to: place.root.appending(path: list), atomically: true, encoding: .utf8)
        try await place.install()
        #expect(!FileManager.default.fileExists(atPath: place.root.appending(path: old).path))
        _ = try await place.make("uninstall")
        #expect(try await place.listing() == before)
    }

    @Test func `every link in the installed pages leads to something that is installed`()
        async throws
    {
        let place = try Place()
        try await place.install()
        let pages = try await place.listing().filter { $0.hasSuffix(".md f 644") }
            .map { String($0.dropLast(6)) }
        #expect(pages.count > 12)
        var links = 0
        for page in pages {
            let folder = place.root.appending(path: page).deletingLastPathComponent()
            for match in try place.text(page).matches(of: /\]\(([^)#\s]+)[^)]*\)|src="([^"]+)"/) {
                let link = String(match.1 ?? match.2 ?? "")
                guard !link.contains("://") else { continue }
                links += 1
                let file = folder.appending(path: link).standardizedFileURL
                #expect(
                    FileManager.default.fileExists(atPath: file.plainPath), "\(page): \(link)")
            }
        }
        #expect(links > 12)
    }

    @Test(arguments: ["/usr", "/opt/atrium-1.0"])
    func `another prefix is what everything installed calls itself by`(prefix: String) async throws
    {
        let place = try Place(prefix: prefix)
        try await place.install()
        let systemd = prefix == "/usr" ? "lib/systemd" : "\(prefix.dropFirst())/lib/systemd"
        for file in try await place.listing() where file.hasSuffix(" f 644") {
            let path = String(file.dropLast(6))
            let isText =
                path.hasPrefix(systemd) || path.contains("/man/") || path.contains("completions")
            guard isText, !path.hasPrefix("usr/local/") else { continue }
            #expect(!(try place.text(path)).contains("/usr/local"), "\(path)")
        }
        let units = try FileManager.default.contentsOfDirectory(
            atPath: place.root.appending(path: "\(systemd)/system").path)
        #expect(units.contains("atriumd.service") && units.contains("atriumd.socket"))
        let version = try await run(
            [place.root.appending(path: prefix + "/bin/atriumctl").path, "--version"])
        #expect(version.status == 0, "finds its libraries beside it: \(version.errors)")
    }

    @Test(arguments: [
        "/opt/two words", "relative/path", "/a/../b", "", "/", "/opt/a;b", "/opt/a'b",
    ])
    func `a prefix that units or scripts could not name is refused`(prefix: String) async throws {
        let place = try Place(prefix: prefix)
        let before = try await place.listing()
        let made = try await place.make("lay-down")
        #expect(made.status != 0)
        #expect(
            made.errors.contains("absolute path") || prefix.contains("'"), "\(made.errors)")
        #expect(try await place.listing() == before)
    }

    @Test func `a destination may have blanks, and quotes no one`() async throws {
        let place = try Place()
        let inner = place.root.appending(path: "two words")
        let made = try await run([
            "make", "-C", Checkout.root, "lay-down", "DESTDIR=\(inner.plainPath)",
            "PREFIX=/usr/local", "PRODUCTS=\(Checkout.root)/.build/debug",
        ])
        #expect(made.status == 0, "\(made.errors)")
        let program = inner.appending(path: "usr/local/bin/atriumctl")
        #expect(FileManager.default.isExecutableFile(atPath: program.plainPath))
    }

    @Test(arguments: [
        ("bash", "share/bash-completion/completions/"), ("zsh", "share/zsh/site-functions/_"),
        ("fish", "share/fish/vendor_completions.d/"),
    ])
    func `the shells read their completions`(shell: String, folder: String) async throws {
        let place = try Place()
        try await place.install()
        for program in ["atriumctl", "atriumd"] {
            let file = "usr/local/\(folder)\(program)\(shell == "fish" ? ".fish" : "")"
            let path = place.root.appending(path: file).plainPath
            guard try await run(["which", shell]).status == 0 else {
                try Test.cancel("there is no \(shell): `make test-deps` installs it")
            }
            let read = try await run([shell, "-n", path])
            #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
        }
    }
}
