import Foundation
import Testing

/// `make install` and `make uninstall`, with the programs that the tests were built with.
struct InstallTests {
    /// A folder to install into, with what others have there.
    private final class Place {
        let root: URL
        private let prefix: String

        init(prefix: String = "/usr/local") throws {
            root = try Repository.temporaryDirectory()
            self.prefix = prefix
            for path in ["usr/local/bin/other", "etc/atrium/atrium.yaml", "var/lib/atrium/store"] {
                let file = root.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(path.utf8).write(to: file)
            }
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        /// Makes a target without building anything.
        func make(_ target: String) throws -> CommandResult {
            try run(
                "make", "--no-print-directory", "-C", Repository.root.plainPath, target,
                "DESTDIR=\(root.plainPath)", "PREFIX=\(prefix)",
                "PRODUCTS=\(Repository.root.plainPath).build/debug")
        }

        func install() throws {
            let made = try make("lay-down")
            try #require(made.status == 0, "\(made.complaints)")
        }

        /// All there is, with kind, mode and, where wanted, the time of the last change.
        func listing(times: Bool = false) throws -> [String] {
            try run("find", root.plainPath, "-printf", times ? "%P %y %m %T@\n" : "%P %y %m\n")
                .text.split(separator: "\n").map(String.init).sorted()
        }

        func text(_ path: String) throws -> String {
            try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
    }

    @Test func `a second install changes nothing, and uninstall leaves what was there before`()
        throws
    {
        let place = try Place()
        let before = try place.listing()
        try place.install()
        let first = try place.listing(times: true)
        #expect(first.count > before.count + 60)
        try place.install()
        #expect(try place.listing(times: true) == first)
        let gone = try place.make("uninstall")
        #expect(gone.status == 0, "\(gone.complaints)")
        #expect(try place.listing() == before)
        #expect(try place.make("uninstall").status == 0, "there is nothing left to do")
    }

    @Test func `an install takes away what an older one put down and it does not`() throws {
        let place = try Place()
        let before = try place.listing()
        try place.install()
        let list = "usr/local/lib/atrium/installed"
        let old = "usr/local/lib/systemd/system/atrium-old.service"
        try Data().write(to: place.root.appending(path: old))
        try (try place.text(list) + "file /\(old)\n").write(
            to: place.root.appending(path: list), atomically: true, encoding: .utf8)
        try place.install()
        #expect(!FileManager.default.fileExists(atPath: place.root.appending(path: old).path))
        _ = try place.make("uninstall")
        #expect(try place.listing() == before)
    }

    @Test(arguments: ["/usr", "/opt/atrium-1.0"])
    func `another prefix is what everything installed calls itself by`(prefix: String) throws {
        let place = try Place(prefix: prefix)
        try place.install()
        let systemd = prefix == "/usr" ? "lib/systemd" : "\(prefix.dropFirst())/lib/systemd"
        for file in try place.listing() where file.hasSuffix(" f 644") {
            let path = String(file.dropLast(6))
            let isText =
                path.hasPrefix(systemd) || path.contains("/man/") || path.contains("completions")
            guard isText, !path.hasPrefix("usr/local/") else { continue }
            #expect(!(try place.text(path)).contains("/usr/local"), "\(path)")
        }
        let units = try FileManager.default.contentsOfDirectory(
            atPath: place.root.appending(path: "\(systemd)/system").path)
        #expect(units.contains("atriumd.service") && units.contains("atriumd.socket"))
        let version = try run(
            place.root.appending(path: prefix + "/bin/atriumctl").path, "--version")
        #expect(version.status == 0, "finds its libraries beside it: \(version.complaints)")
    }

    @Test(arguments: [
        "/opt/two words", "relative/path", "/a/../b", "", "/", "/opt/a;b", "/opt/a'b",
    ])
    func `a prefix that units or scripts could not name is refused`(prefix: String) throws {
        let place = try Place(prefix: prefix)
        let before = try place.listing()
        let made = try place.make("lay-down")
        #expect(made.status != 0)
        #expect(
            made.complaints.contains("absolute path") || prefix.contains("'"), "\(made.complaints)")
        #expect(try place.listing() == before)
    }

    @Test func `a destination may have blanks, and quotes no one`() throws {
        let place = try Place()
        let inner = place.root.appending(path: "two words")
        let made = try run(
            "make", "-C", Repository.root.plainPath, "lay-down", "DESTDIR=\(inner.plainPath)",
            "PREFIX=/usr/local", "PRODUCTS=\(Repository.root.plainPath).build/debug")
        #expect(made.status == 0, "\(made.complaints)")
        let program = inner.appending(path: "usr/local/bin/atriumctl")
        #expect(FileManager.default.isExecutableFile(atPath: program.plainPath))
    }

    @Test(arguments: [
        ("bash", "share/bash-completion/completions/"), ("zsh", "share/zsh/site-functions/_"),
        ("fish", "share/fish/vendor_completions.d/"),
    ])
    func `the shells read their completions`(shell: String, folder: String) throws {
        let place = try Place()
        try place.install()
        for program in ["atriumctl", "atriumd"] {
            let file = "usr/local/\(folder)\(program)\(shell == "fish" ? ".fish" : "")"
            let path = place.root.appending(path: file).plainPath
            guard try run("which", shell).status == 0 else {
                try Test.cancel("there is no \(shell): `make test-deps` installs it")
            }
            let read = try run(shell, "-n", path)
            #expect(read.status == 0 && read.complaints.isEmpty, "\(read.complaints)")
        }
    }
}
