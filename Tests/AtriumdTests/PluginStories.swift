import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Plugins of other people: made, built, checked, loaded, or refused in words.
    @Suite struct Plugins {
        @Test func `a plugin's package finds the kit on another machine, or says how to name it`()
            async throws
        {
            let tree = try await Installed.tree
            let folder = try TemporaryDirectory()
            let made = try await run(
                [tree.bin + "/atriumctl", "plugin", "new", "--kind", "votes", "Thumbs"],
                in: folder.path)
            #expect(made.status == 0, "\(made)")
            // As a clone of the repository has it: without what is ignored.
            let cloned = try await run(
                ["sh", "-c", "cp -r Thumbs clone && rm clone/.kit"], in: folder.path)
            #expect(cloned.status == 0, "\(cloned)")
            let clone = folder.path + "/clone"
            let kit = URL(filePath: tree.examples).deletingLastPathComponent().path
            for (places, finds) in [
                (["ATRIUM_KIT=\(kit)"], true), (["ATRIUM_KIT=/nowhere"], false),
            ] {
                let read = try await run(
                    ["env"] + places + ["swift", "package", "dump-package"], in: clone)
                // Where Atrium is installed, the package finds it there.
                let isInstalled = ["/usr/local/share/atrium", "/usr/share/atrium"].contains {
                    FileManager.default.fileExists(atPath: $0 + "/AtriumKit/Package.swift")
                }
                #expect((read.status == 0) == (finds || isInstalled), "\(read)")
                #expect(finds || isInstalled || read.errors.contains("ATRIUM_KIT"), "\(read)")
            }
        }

        @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the plugin is in Python"))
        func `a plugin in Python takes votes, which outlive a restart`()
            async throws
        {
            let tree = try await Installed.tree
            let folder = try TemporaryDirectory()
            let made = try await run(
                [
                    tree.bin + "/atriumctl", "plugin", "new", "--kind", "votes", "--language",
                    "python", "Likes",
                ], in: folder.path)
            #expect(made.status == 0, "\(made)")

            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            let tally =
                "atriumctl call Votes.Tally "
                + #"'{"container": "films", "item": "alien-1979", "component": "likes"}'"#
            try await withFilms(options) { daemon in
                let plugins = try await daemon.type("atriumctl plugins --json")
                let likes = try Self.plugin("org.example.likes", in: plugins)
                #expect(likes?["state"]?.string == "loaded", "\(plugins)")
                #expect(likes?["isolation"]?.string == "process")
                #expect(likes?["path"]?.string?.hasSuffix("/Likes/likes.py") == true)
                let used = try await daemon.type(
                    "atriumctl attach films likes --plugin org.example.likes && "
                        + "atriumctl vote films/alien-1979 1 --component likes")
                #expect(used.status == 0, "\(used)")
                let refused = try await daemon.type(
                    "atriumctl vote films/alien-1979 5 --component likes")
                #expect(refused.status == 1, "\(refused)")
                #expect(refused.errors.contains("from -1 to 1 in steps of 2"), "\(refused)")
                let before = try await daemon.type(tally)
                #expect(try before.json["tally"]?["score"]?.double == 1, "\(before)")

                try await daemon.stop()
                try await daemon.start()
                let after = try await daemon.type(tally)
                #expect(try after.json["tally"] == before.json["tally"], "\(after)")
                let back = try await daemon.type(
                    "atriumctl unvote films/alien-1979 --component likes && \(tally)")
                #expect(back.status == 0, "\(back)")

                let described = try await daemon.type(
                    "atriumctl interfaces && atriumctl introspect org.atrium.plugin.Votes")
                #expect(described.output.contains("method Restored("), "\(described)")
                let called = try await daemon.type("atriumctl call org.atrium.plugin.Votes.Stop")
                #expect(called.status != 0, "described, not served: \(called)")
            }
        }

        @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the plugins are in Python"))
        func `plugins in Python list items, offer filters and judge comments`() async throws {
            let tree = try await Installed.tree
            let folder = try TemporaryDirectory()
            for kind in ["contents", "filters", "comments"] {
                let made = try await run(
                    [
                        tree.bin + "/atriumctl", "plugin", "new", "--kind", kind, "--language",
                        "python", kind.capitalized,
                    ], in: folder.path)
                #expect(made.status == 0, "\(made)")
            }
            let letters = try TemporaryDirectory()
            for name in ["b.txt", "a.txt"] { try letters.write(name, name) }
            let definition = try folder.write(
                "letters.yaml",
                """
                atrium: 1
                container: letters
                title: Letters
                fields:
                  title: { type: text, required: true, search: true }
                  size:  { type: integer }
                components:
                  - { name: list, plugin: org.example.contents, settings: { folder: \(letters.path) } }
                  - { name: sizes, plugin: org.example.filters, settings: { fields: [size] } }
                  - { name: talk, plugin: org.example.comments }
                """)
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withFilms(options) { daemon in
                let applied = try await daemon.type("atriumctl apply -f \(definition)")
                #expect(applied.status == 0, "\(applied)")
                try await Self.lists(["a.txt", "b.txt"], daemon)
                let sized = try await daemon.type(
                    "atriumctl list letters --filter size=5 --output ids")
                #expect(sized.output.split(separator: "\n").count == 2, "\(sized)")
                let posted = try await daemon.type(
                    "atriumctl comment letters/a.txt 'I like it.' && "
                        + "atriumctl comment letters/a.txt 'See https://a.example and https://b.example'"
                )
                #expect(posted.status == 0, "\(posted)")
                let shouted = try await daemon.type(
                    "atriumctl comment letters/a.txt 'THIS IS THE VERY BEST OF ALL LETTERS'")
                #expect(shouted.errors.contains("without shouting"), "\(shouted)")

                try letters.write("c.txt", "another")
                let path = letters.path + "/b.txt"
                try FileManager.default.removeItem(atPath: path)
                try await Self.lists(["a.txt", "c.txt"], daemon)
                try await daemon.stop()
                try await daemon.start()
                try await Self.lists(["a.txt", "c.txt"], daemon)
                let thread = try await daemon.type("atriumctl thread letters/a.txt")
                #expect(thread.output.contains("I like it."), "\(thread)")
                for kind in ["Contents", "Filters", "Comments"] {
                    let shown = try await daemon.type(
                        "atriumctl introspect org.atrium.plugin.\(kind)")
                    #expect(shown.output.contains("method Start("), "\(shown)")
                }
            }
        }

        /// Waits until the list of letters has these items; the program is listened to every ten seconds.
        private static func lists(_ ids: [String], _ daemon: DaemonUnderTest) async throws {
            try await until {
                let listed = try await daemon.type("atriumctl list letters --output ids")
                return listed.output.split(separator: "\n").map(String.init).sorted() == ids
            }
        }

        @Test func `libraries that are no plugins are refused in words, and all else goes on`()
            async throws
        {
            let folder = try TemporaryDirectory()
            try await Self.library(folder, "plain", "int answer(void) { return 42; }")
            try await Self.library(
                folder, "older",
                """
                extern void atriumkit_abi_0_swift5_9(void);
                void *atrium_plugin_org_test_older(void) { atriumkit_abi_0_swift5_9(); return 0; }
                """)
            try await Self.library(
                folder, "copied",
                """
                void atriumkit_abi_2_swift6_3(void) {}
                void *atrium_plugin_org_test_copied(void) { atriumkit_abi_2_swift6_3(); return 0; }
                """)
            let options = DaemonUnderTest.Options(arguments: ["--plugin-path", folder.path])
            try await withFilms(options) { daemon in
                let plugins = try await daemon.type("atriumctl plugins --json")
                for (name, word) in [
                    ("plain", "no Atrium plugin"), ("older", "another epoch"),
                    ("copied", "own copy"),
                ] {
                    let plugin = try Self.plugin("org.test.\(name)", in: plugins)
                    #expect(plugin?["state"]?.string == "refused", "\(name)")
                    let reason = plugin?["reason"]?.string ?? ""
                    #expect(reason.contains(word), "\(name): \(reason)")
                    #expect(reason.hasSuffix("."), "a sentence: \(reason)")
                }
                let table = try await daemon.type("atriumctl plugins")
                #expect(table.output.contains("another epoch"), "\(table)")
                let listed = try await daemon.type("atriumctl list films --limit 1 --json")
                #expect(try listed.json.ids.count == 1)
            }
        }

        /// Observers and members read that it was refused, moderators and administrators also why.
        @Test(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
        func `why a plugin was refused, and where plugins are, is for those who look after them`()
            async throws
        {
            let (folder, loose) = (try TemporaryDirectory(), try TemporaryDirectory())
            try folder.write("torn/manifest.json", "{")
            #expect(chmod(loose.path, 0o777) == 0)
            let options = DaemonUnderTest.Options(
                arguments: ["--plugin-path", folder.path, "--plugin-path", loose.path])
            try await People.withFilms(options) { daemon, people in
                let calls: [JSONValue] = [
                    ["method": "org.atrium.Plugins.List"],
                    [
                        "method": "org.atrium.Plugins.Describe",
                        "parameters": ["plugin": "org.atrium.stars"],
                    ],
                    ["method": "org.atrium.Daemon.Status"],
                ]
                for (role, hasDetails) in [
                    ("nobody", false), ("member", false), ("frontend", false), ("moderator", true),
                    ("admin", true),
                ] {
                    let replies = try await people.call(as: role, calls)
                    let texts = replies.map { String(decoding: JSON.encode($0), as: UTF8.self) }
                    #expect(texts.allSatisfy { !$0.contains("\"error\"") }, "\(texts)")
                    let torn = replies[0]["parameters"]?["plugins"]?.array?
                        .first { $0["id"]?.string == "torn" }
                    #expect(torn?["state"]?.string == "refused", "\(role)")
                    #expect((torn?["reason"] != nil) == hasDetails, "\(role)")
                    #expect(texts[0].contains(folder.path) == hasDetails, "\(role)")
                    #expect(texts[1].contains("\"path\"") == hasDetails, "\(role)")
                    #expect(texts[2].contains("The plugin torn was refused"), "\(role)")
                    #expect(texts[2].contains("is not looked into"), "\(role)")
                    #expect(texts[2].contains(folder.path) == hasDetails, "\(role)")
                    #expect(texts[2].contains(loose.path) == hasDetails, "\(role)")
                }
            }
        }

        private static func plugin(_ id: String, in reply: Finished) throws -> JSONValue? {
            try reply.json["plugins"]?.array?.first { $0["id"]?.string == id }
        }

        /// Builds a shared library from C, with a manifest that says it is a plugin.
        private static func library(
            _ folder: TemporaryDirectory, _ name: String, _ source: String
        ) async throws {
            try folder.write(
                "\(name)/manifest.json",
                """
                {"id": "org.test.\(name)", "version": "1.0.0", "kind": "votes",
                 "library": "lib.so", "title": "T", "description": "D"}
                """)
            let input = try folder.write("\(name)/lib.c", source)
            let built = try await run(
                [
                    try clang, "-shared", "-fPIC", "-nostdlib",
                    "-Wl,--unresolved-symbols=ignore-all", "-o", "\(folder.path)/\(name)/lib.so",
                    input,
                ])
            try #require(built.status == 0, "\(built)")
        }

        /// The compiler that comes with Swift.
        private static var clang: String {
            get throws {
                let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
                let swift = path.split(separator: ":").map { "\($0)/swift" }
                    .first(where: FileManager.default.isExecutableFile)
                return URL(filePath: try #require(swift)).resolvingSymlinksInPath()
                    .deletingLastPathComponent().appending(path: "clang").path
            }
        }
    }
}
