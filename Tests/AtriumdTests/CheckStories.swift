import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What is wrong with settings and definitions is told alike by a check, a start and a reload.
    @Suite struct Checks {
        private static let refused = """
            atrium: 1
            container: refused
            fields: { title: { type: text } }
            components:
              - { name: list, plugin: org.atrium.catalog }
              - name: filters
                plugin: org.atrium.facets
                settings: { sections: [{ id: a, field: nope }] }
            """
        private static let isolated = """
            atrium: 1
            container: isolated
            fields: { title: { type: text } }
            components:
              - { name: list, plugin: org.atrium.catalog, isolation: process, settings: { odd: 1 } }
            """
        private static let unknown = """
            atrium: 1
            container: unknown
            fields: { title: { type: text } }
            components: [{ name: list, plugin: org.atrium.nope }]
            """
        private static let plain = """
            atrium: 1
            container: plain
            fields: { title: { type: text } }
            components: [{ name: list, plugin: org.atrium.catalog }]
            """

        private static let check = "CONFIGURATION_DIRECTORY=$PWD/etc atriumd --check"

        @Test func `a check finds what a start and a reload refuse, and nobody sees Swift`()
            async throws
        {
            // Files named by their paths, which differ between tests, after the folder.
            let wrong = [
                "a.yaml": Self.refused, "b.yaml": Self.unknown, "c.yaml": Self.isolated,
                "e.yaml": Self.plain.replacing("catalog", with: "catalogue"),
                "f.yaml": "",
            ]
            var options = DaemonUnderTest.Options()
            options.configuration = ["containers.d/d.yaml": Self.plain]
            for (name, text) in wrong { options.configuration["containers.d/" + name] = text }
            try await withDaemon(options) { daemon in
                let folder = daemon.home.path + "/etc/containers.d/"
                let sentences = [
                    "a.yaml:8:44: component 'filters', setting 'sections[0].field': there is no "
                        + "field 'nope'; there are: title",
                    "b.yaml:4:36: there is no plugin 'org.atrium.nope' (there are: org.atrium.cat",
                    "c.yaml:5:84: component 'list', setting 'odd': unknown",
                    "e.yaml:2:12: the container 'plain' is defined in \(folder)d.yaml already (",
                    "f.yaml:1:1: there is no definition",
                ].map { folder + $0 }
                let checked = try await daemon.type(Self.check)
                #expect(checked.status == 1)
                #expect(checked.output.contains("\n\(folder)d.yaml: fine\n"), "\(checked)")
                let status = try await daemon.type("atriumctl status")
                let reload = try await daemon.type("atriumctl reload")
                #expect(reload.status == 1)
                for sentence in sentences {
                    #expect(checked.output.contains("\ndefinition: \(sentence)"), "\(checked)")
                    #expect(status.output.contains("! \(sentence)"), "\(status)")
                    #expect(reload.errors.contains(sentence), "\(reload)")
                    #expect(daemon.log.contains(String(sentence.suffix(60))), "\(daemon.log)")
                }
                let plain = try await daemon.type("atriumctl describe plain")
                #expect(plain.output.contains("org.atrium.catalog"), "the first file counts")
            }
        }

        @Test func `a check finds containers that lie within each other, also across files`()
            async throws
        {
            let names = ["a": "b", "b": "c", "c": "a"]
            var options = DaemonUnderTest.Options()
            for (name, part) in names {
                options.configuration["containers.d/\(name).yaml"] = """
                    atrium: 1
                    container: \(name)
                    components: [{ name: inner, container: \(part) }]
                    """
            }
            try await withDaemon(options) { daemon in
                let folder = daemon.home.path + "/etc/containers.d/"
                let checked = try await daemon.type(Self.check)
                #expect(checked.status == 1)
                #expect(checked.output.contains("\n\(folder)b.yaml: fine\n"), "\(checked)")
                let sentence =
                    "definition: \(folder)c.yaml:2:12: "
                #expect(checked.output.contains(sentence), "\(checked)")
                #expect(
                    checked.output.contains("A container can't be a part of itself: "),
                    "\(checked)")
                // A start applies them beside each other: one of them closes the circle.
                let status = try await daemon.type("atriumctl status")
                #expect(status.output.contains("A container can't be a part of itself: "))
            }
        }

        @Test func `a check accepts a credential that is there for the service alone, and says so`()
            async throws
        {
            let plugins = try TemporaryDirectory()
            let library = try Data(
                contentsOf: URL(filePath: Checkout.products + "/libBreaker.so"))
            try plugins.write("org.atrium.breaker/libBreaker.so", library)
            try plugins.write(
                "org.atrium.breaker/manifest.json",
                """
                {"id": "org.atrium.breaker", "version": "0.1.0", "kind": "contents",
                 "library": "libBreaker.so", "title": "Breaker", "description": "Breaks."}
                """)
            func definition(_ name: String, _ settings: String, _ more: String = "") -> String {
                """
                atrium: 1
                container: \(name)
                fields: { title: { type: text } }
                components:
                  - { name: list, plugin: org.atrium.breaker, settings: { \(settings) } }
                \(more)
                """
            }
            let key = "key: { secretCredential: listkey }"
            var options = DaemonUnderTest.Options()
            options.configuration = ["atrium.yaml": "pluginPath: [\(plugins.path)]\n"]
            try await withDaemon(options) { daemon in
                let folder = daemon.home.path + "/etc/containers.d/"
                for (name, text) in [
                    ("fine", definition("fine", key)),
                    ("name", definition("name", "key: { secretCredential: ../key }")),
                    ("other", definition("other", key + ", odd: 1")),
                    (
                        "beside",
                        definition(
                            "beside", key,
                            "  - { name: more, plugin: org.atrium.catalog, settings: { odd: 1 } }")
                    ),
                ] {
                    try daemon.home.write("etc/containers.d/\(name).yaml", text)
                }
                let checked = try await daemon.type("unset CREDENTIALS_DIRECTORY; \(Self.check)")
                #expect(checked.status == 1)
                for sentence in [
                    "\n\(folder)fine.yaml: fine\n\(folder)fine.yaml: component 'list', setting "
                        + "'key': the credential 'listkey' is there for the service alone",
                    "setting 'key': the secret can't be read: '../key' is no credential's name",
                    "component 'list', setting 'odd': unknown",
                    "component 'more', setting 'odd': unknown",
                ] {
                    #expect(checked.output.contains(sentence), "\(sentence)\n\(checked)")
                }
                for name in ["name", "other", "beside"] {
                    #expect(!checked.output.contains("\(name).yaml: fine"), "\(checked)")
                    _ = try await daemon.type("rm etc/containers.d/\(name).yaml")
                }
                #expect(try await daemon.type(Self.check).status == 0)
                // Where it is, it is read.
                try daemon.home.write("credentials/listkey", "hunter2")
                let read = try await daemon.type(
                    "CREDENTIALS_DIRECTORY=$PWD/credentials \(Self.check)")
                #expect(read.status == 0 && !read.output.contains("listkey"), "\(read)")
                let missing = try await daemon.type(
                    "rm credentials/listkey; CREDENTIALS_DIRECTORY=$PWD/credentials \(Self.check)")
                #expect(missing.output.contains("credentials/listkey: No such file"), "\(missing)")
            }
        }

        @Test func `definitions are those beside the settings that are named`() async throws {
            try await withDaemon { daemon in
                let checked = try await daemon.type(
                    """
                    mkdir -p own/containers.d && : >own/atrium.yaml
                    echo 'container: x' >own/containers.d/bad.yaml
                    ! atriumd --check --config own/atrium.yaml && cd own && atriumd --check --config atrium.yaml
                    """)
                #expect(checked.status == 1, "\(checked)")
                #expect(checked.output.contains("\ndefinition: own/containers.d/bad.yaml:1"))
                #expect(checked.output.contains("\ndefinition: ./containers.d/bad.yaml:1"))
            }
        }

        /// Emacs keeps a link that leads nowhere beside a file that is being edited.
        @Test func `hidden files beside the definitions are left out`() async throws {
            var options = DaemonUnderTest.Options()
            options.configuration = [
                "containers.d/plain.yml": Self.plain, "containers.d/.hidden.yaml": Self.refused,
            ]
            try await withDaemon(options) { daemon in
                let folder = daemon.home.path + "/etc/containers.d"
                try #require(symlink("root@host.123:456", "\(folder)/.#plain.yml") == 0)
                let checked = try await daemon.type(Self.check)
                #expect(checked.status == 0, "\(checked)")
                #expect(checked.output.contains("\(folder)/plain.yml: fine"), "\(checked)")
                #expect(!checked.output.contains("hidden"), "\(checked)")
                let reloaded = try await daemon.type("atriumctl reload")
                #expect(reloaded.status == 0, "\(reloaded)")
                let applied = try await daemon.type("atriumctl apply -f etc/containers.d")
                #expect(applied.status == 0, "\(applied)")
                let list = try await daemon.type("atriumctl describe plain")
                #expect(list.status == 0, "\(list)")
                #expect(try await daemon.type("atriumctl describe refused").status != 0)
            }
        }

        @Test func `files and folders that can't be read are reported with the system's reason`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration = ["containers.d/plain.yaml": Self.plain]
            try await withDaemon(options) { daemon in
                let folder = daemon.home.path + "/etc/containers.d"
                let made = try await daemon.type(
                    """
                    cd etc/containers.d && mkdir a.yaml && ln -s gone b.yaml && mkfifo c.yaml
                    printf '\\xff\\xfe' >d.yaml
                    """)
                #expect(made.status == 0)
                let odd = try await daemon.type("atriumctl reload")
                #expect(odd.status == 1)
                #expect(odd.errors.contains("\(folder)/a.yaml: can't be read: Is a directory;"))
                #expect(odd.errors.contains("/b.yaml: can't be read: No such file or directory;"))
                #expect(odd.errors.contains("/c.yaml: it is no regular file: put one"), "\(odd)")
                #expect(odd.errors.contains("/d.yaml: it is UTF-16, not UTF-8:"), "\(odd)")

                _ = try await daemon.type("rm -r etc/containers.d; touch etc/containers.d")
                let file = try await daemon.type("atriumctl reload")
                #expect(file.errors.contains("containers.d: can't be read: Not a directory;"))
                _ = try await daemon.type(
                    "rm etc/containers.d; ln -s containers.d etc/containers.d")
                let loop = try await daemon.type("atriumctl reload")
                #expect(loop.errors.contains("containers.d: can't be read: Too many levels"))
                _ = try await daemon.type("rm etc/containers.d")
                let none = try await daemon.type("atriumctl reload")
                #expect(none.status == 0, "a folder that is not there is none: \(none)")
                let kept = "plain: no longer defined by a file, but kept; 'atriumctl delete plain'"
                #expect(none.output.contains(kept), "\(none)")
                #expect(
                    try await daemon.type("atriumctl reload").output == "nothing changed\n",
                    "told once")
                #expect(try await daemon.type("atriumctl reload --quiet").output == "")
            }
        }

        @Test func `settings of comments alone are none, and others are refused with their place`()
            async throws
        {
            let options = DaemonUnderTest.Options(configuration: ["atrium.yaml": "# none\n"])
            try await withDaemon(options) { daemon in
                let path = daemon.home.path + "/etc/atrium.yaml"
                for text in ["", "---\n", "# a comment\n", "---\n# another\n"] {
                    try daemon.home.write("etc/atrium.yaml", text)
                    #expect(try await daemon.type(Self.check).status == 0, "\(text)")
                    #expect(try await daemon.type("atriumctl reload").status == 0, "\(text)")
                }
                let wrong = [
                    ("[]", ":1:1: the document: expected a mapping, found a list"),
                    ("# a\nlogLevel: loud", ":2: logLevel: 'loud' is none of trace,"),
                    ("frontends: [web]", ":1: frontends: 'web' names no namespace"),
                    ("pluginPath: [x]", ":1: pluginPath: expected a path that begins with /"),
                    (
                        "workerMemoryMax: 1K",
                        ":1: workerMemoryMax: expected 16M or more, which a worker needs to live, "
                            + "found 1K"
                    ),
                    ("logLevel: info\n---\n{}", ":3:1: the settings are one document"),
                ]
                for (text, sentence) in wrong {
                    try daemon.home.write("etc/atrium.yaml", text + "\n")
                    let checked = try await daemon.type(Self.check)
                    #expect(checked.status == 78, "\(checked)")
                    #expect(checked.errors.contains(path + sentence), "\(checked)")
                    let reload = try await daemon.type("atriumctl reload")
                    #expect(reload.errors.contains(path + sentence), "\(reload)")
                }
                // What this daemon is told by its flags and variables beats the file.
                for key in ["socket", "stateDirectory"] {
                    for (value, found) in [("''", "found nothing"), ("x", "found 'x'")] {
                        try daemon.home.write("etc/atrium.yaml", "\(key): \(value)\n")
                        let checked = try await daemon.type("unset ATRIUM_SOCKET; \(Self.check)")
                        #expect(checked.status == 78)
                        #expect(checked.errors.contains("\(path):1: \(key): expected a path"))
                        #expect(checked.errors.contains(found), "\(checked)")
                    }
                }
                try daemon.home.write("etc/atrium.yaml", "pluginPath: [\(path).gone]\n")
                let missing = try await daemon.type(Self.check)
                #expect(missing.status == 0 && missing.output.contains(".gone is not there"))
            }
        }

        @Test func `a role for somebody who is not there keeps nobody else from being served`()
            async throws
        {
            let options = DaemonUnderTest.Options(
                configuration: [
                    "atrium.yaml": "admins: [nobody-of-that-name]\nfrontends: [gone-too=web]\n"
                ])
            try await withDaemon(options) { daemon in
                let path = daemon.home.path + "/etc/atrium.yaml"
                let sentences = [
                    "\(path):1: admins: there is no user 'nobody-of-that-name'",
                    "\(path):2: frontends: there is no user 'gone-too'",
                ]
                let status = try await daemon.type("atriumctl status")
                let checked = try await daemon.type(Self.check)
                #expect(checked.status == 1)
                for sentence in sentences {
                    #expect(status.output.contains("! \(sentence)"), "\(status)")
                    #expect(checked.output.contains("configuration: \(sentence)"), "\(checked)")
                    #expect(daemon.log.contains(String(sentence.suffix(40))), "\(daemon.log)")
                }
                try daemon.home.write("etc/atrium.yaml", "members: ['@no-such-group']\n")
                let reload = try await daemon.type("atriumctl reload")
                #expect(reload.errors.contains("members: there is no group 'no-such-group'"))
                #expect(reload.errors.contains("changed: admins: changed, members: changed"))
                try daemon.home.write("etc/atrium.yaml", "")
                #expect(try await daemon.type("atriumctl reload").status == 0)
                let well = try await daemon.type("atriumctl status")
                #expect(well.output.contains(": ready"), "\(well)")
            }
        }

        @Test func `a failed start says why in a line that begins with the program's name`()
            async throws
        {
            try await withFilms { daemon in
                try daemon.home.write("file", "")
                for (words, status, reason) in [
                    ("--loud", 64, "atriumd: Unknown option '--loud'"),
                    ("--restore x", 77, "atriumd: x can't be read: No such file or directory"),
                    (
                        "--restore - --state-directory file <file", 78,
                        "atriumd: can't make the directory file: a file is there"
                    ),
                ] {
                    let failed = try await daemon.type("atriumd \(words)")
                    #expect(failed.errors.hasPrefix(reason), "\(failed)")
                    #expect(failed.status == status, "\(failed)")
                }
            }
        }

        @Test
        func
            `ids of plugins in settings that no plugin has are reported, and keep nobody from serving`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration = [
                "atrium.yaml":
                    "delegates: [org.example.club]\nnetworkPlugins: [org.atrium.remot, org.atrium.remote]\n"
            ]
            try await withDaemon(options) { daemon in
                let file = daemon.home.path + "/etc/atrium.yaml"
                let problems = [
                    "\(file):1: delegates: there is no plugin 'org.example.club'; there are: org.atrium.catalog, ",
                    "\(file):2: networkPlugins: there is no plugin 'org.atrium.remot'; did you mean 'org.atrium.remote'?",
                ]
                let status = try await daemon.type("atriumctl status --json")
                let told = try status.json["problems"]?.array?.compactMap(\.string) ?? []
                let checked = try await daemon.type(Self.check)
                #expect(checked.status == 1, "\(checked)")
                for problem in problems {
                    #expect(told.contains { $0.hasPrefix(problem) }, "\(told)")
                    #expect(daemon.log.contains(problem), "\(daemon.log)")
                    #expect(checked.output.contains("configuration: \(problem)"), "\(checked)")
                }
                #expect(told.count == 2, "the id that there is, is none: \(told)")

                try daemon.home.write("etc/atrium.yaml", "networkPlugins: [org.atrium.remote]\n")
                let reloaded = try await daemon.type("atriumctl reload")
                #expect(reloaded.status == 0, "\(reloaded)")
                let after = try await daemon.type("atriumctl status --json")
                #expect(try after.json["problems"]?.array?.isEmpty ?? true, "\(after)")
            }
        }
    }
}
