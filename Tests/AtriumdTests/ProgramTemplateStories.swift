import Foundation
import TestSupport
import Testing

extension Stories {
    /// What `atriumctl plugin new` makes in other languages: each builds, passes its suite, and does the same.
    @Suite struct ProgramTemplates {
        /// The languages that this machine can run, with what builds a plugin.
        private static let languages = [
            (language: "python", program: "/usr/bin/python3", build: "true"),
            ("rust", "cargo", "cargo build --release --offline"),
            ("go", "go", "CGO_ENABLED=0 go build"),
        ].filter { language in
            guard !language.program.hasPrefix("/") else {
                return access(language.program, X_OK) == 0
            }
            return (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
                .contains { access("\($0)/\(language.program)", X_OK) == 0 }
        }

        @Test(arguments: languages)
        func `a plugin in another language builds, passes its suite and does what the others do`(
            language: String, program: String, build: String
        ) async throws {
            let tree = try await Installed.tree
            let folder = try TemporaryDirectory()
            let examples = [
                "contents": try Self.contents(folder), "filters": Self.filters,
                "votes": Self.votes, "comments": Self.comments,
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (kind, examples) in examples {
                    let file = try folder.write("\(kind).json", #"{"examples": [\#(examples)]}"#)
                    let name = kind.capitalized
                    let script = """
                        export HOME=${HOME:-/root} GOCACHE="$PWD/cache"
                        '\(tree.bin)/atriumctl' plugin new --kind \(kind) --language \(language) \(name)
                        cd \(name) && \(build) && '\(tree.bin)/atrium-worker' --check . --seed 7 --examples '\(file)'
                        """
                    let path = folder.path
                    group.addTask {
                        let checked = try await run(["sh", "-c", script], in: path)
                        #expect(checked.status == 0, "\(checked)")
                        #expect(
                            checked.output.contains("in a worker: \(kind): conforms (seed 7"),
                            "\(checked)")
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func `the id of a shipped plugin is refused by the check, as by the daemon`()
            async throws
        {
            let worker = try await Installed.tree.bin + "/atrium-worker"
            let folder = try TemporaryDirectory()
            chmod(try folder.write("run", "#!/bin/sh\n"), 0o755)
            for (id, words) in [
                ("org.atrium.stars", "failed: The id 'org.atrium.stars' is that of a plugin that"),
                ("org.atrium.mine", "warning: ids below org.atrium are reserved"),
                ("org.example.mine", "failed: votes, seed 1, in a worker"),
            ] {
                try folder.write(
                    "manifest.json",
                    #"{"id": "\#(id)", "version": "1.0.0", "kind": "votes", "program": "run", "#
                        + #""title": "Mine"}"#)
                let checked = try await run([worker, "--check", folder.path])
                #expect(checked.status == 1, "the program ends at once")
                #expect(checked.output.contains(words), "\(checked)")
                #expect(checked.output.contains("warning") == (id == "org.atrium.mine"))
            }
        }

        /// Types the lines that `plugin new` printed, the last of which starts a daemon, and then what its README says.
        private static func typed(_ language: String, in tree: Installed) -> String {
            #"""
            set -e
            export PATH='\#(tree.bin)':"$PATH" HOME=${HOME:-/root} GOCACHE="$PWD/cache" CONFIGURATION_DIRECTORY="$PWD/etc"
            atriumctl plugin new --kind votes --language \#(language) Thumbs | sed -n 's/^    //p' >steps
            printf 'atrium: 1\ncontainer: shelf\nfields: { title: { type: text } }\ncomponents: []\n' >shelf.yaml
            daemon=$(tail -n 1 steps)
            sed -i '$d' steps
            . ./steps
            start() {
                (eval "exec $daemon") 2>>../log &
                trap "kill $!" EXIT
                timeout 30 sh -c 'until atriumctl status >/dev/null 2>&1; do sleep 0.1; done'
            }
            start
            atriumctl apply -f ../shelf.yaml
            $(sed -n 's/^    \(atriumctl attach\)/\1/p' README.md | sed 's/CONTAINER/shelf/')
            kill $! && wait $! || true
            start
            atriumctl plugins
            atriumctl describe shelf
            atriumctl status
            """#
        }

        @Test(arguments: languages)
        func `the lines that a new plugin is printed with work as they are, also after a restart`(
            language: String, program: String, build: String
        ) async throws {
            let folder = try TemporaryDirectory()
            let script = Self.typed(language, in: try await Installed.tree)
            let typed = try await run(["bash", "-c", script], in: folder.path)
            #expect(typed.status == 0, "\(typed)")
            #expect(typed.output.contains("shelf: thumbs attached"), "\(typed)")
            #expect(typed.output.contains(/\nthumbs .* attached/), "\(typed)")
            #expect(!typed.output.contains("on the disk"), "\(typed)")
            #expect(!typed.output.contains("degraded"), "\(typed)")
        }

        /// Files whose names are no ids, more of them than one reply takes, a folder that is missing, one whose file was
        /// removed meanwhile, as a link to nothing looks, and one with a file that can't be looked at: nothing of it is listed.
        private static func contents(_ folder: TemporaryDirectory) throws -> String {
            let names = (1000..<4000).map { "\($0)" + String(repeating: "n", count: 190) }
            for name in names + ["\u{1}", String(repeating: "n", count: 201), "folder/file"] {
                try folder.write("many/\(name)", "")
            }
            // A name that is no text.
            let name = Array("\(folder.path)/many/".utf8CString.dropLast()) + [-1, 0]
            close(open(name, O_CREAT | O_WRONLY, 0o600))
            let leap = try folder.write("times/leap", "12345")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 951_868_799)], ofItemAtPath: leap)
            let files = FileManager.default
            try files.createSymbolicLink(
                atPath: "\(folder.path)/times/gone", withDestinationPath: "nothing")
            try folder.write("unread/file", "")
            try files.createSymbolicLink(
                atPath: "\(folder.path)/unread/loop", withDestinationPath: "loop")
            let items = names.map { #"{"id": "\#($0)"}"# }.joined(separator: ", ")
            // The first step has the list waited for.
            return """
                {
                  "title": "files whose names are ids, in several replies",
                  "settings": {"folder": "\(folder.path)/many"}, "fields": [{"name": "title", "type": "text"}],
                  "steps": [{"write": "a", "text": ""}, {"items": "sorted", "is": [\(items)]}]
                },
                {
                  "title": "the fields that the container has",
                  "settings": {"folder": "\(folder.path)/times"},
                  "fields": [{"name": "size", "type": "integer"}, {"name": "changed", "type": "time"}],
                  "steps": [
                    {"write": "a", "text": ""},
                    {"items": "sorted", "is": [{"id": "leap", "fields": {"size": 5, "changed": "2000-02-29T23:59:59Z"}}]}
                  ]
                },
                {
                  "title": "a folder with a file that can't be looked at",
                  "settings": {"folder": "\(folder.path)/unread"},
                  "steps": [{"write": "a", "text": ""}, {"items": "sorted", "is": []}]
                },
                {
                  "title": "a folder that is missing",
                  "settings": {"folder": "$FOLDER/missing"},
                  "steps": [{"write": "a", "text": ""}, {"items": "sorted", "is": []}]
                }
                """
        }

        /// Values whose texts are no ids, one of them bigger than a reply may be, and settings that make no sense.
        private static var filters: String {
            let long = String(repeating: "x", count: 2 << 20)
            let invalid = [#"["none"]"#, "[3]", #"["year", "year"]"#, #"[["year"]]"#, "[{}]"].map {
                #", {"title": "\#($0.filter { $0 != "\"" })", "settings": {"fields": \#($0)}, "#
                    + #""refused": "fields", "because": "the container has no field"}"#
            }
            return #"""
                {
                  "title": "a filter for each value, unless its text is no id",
                  "settings": {"fields": ["genres", "year"]},
                  "steps": [
                    {"observes": true, "is": ["genres", "year"]},
                    {"values": {"genres": ["crime", "", "\#(long)"], "year": [1972, 2.5, 1e15]}, "cut": ["genres"]},
                    {"sections": true, "is": [
                      {"id": "genres", "title": "genres", "input": "several", "hasMore": true, "filters": [
                        {"id": "crime", "title": "crime", "predicate": {"field": "genres", "equals": "crime"}}
                      ]},
                      {"id": "year", "hasMore": false, "filters": [
                        {"id": "1972", "predicate": {"field": "year", "equals": 1972}}, {"id": "2.5"},
                        {"id": "1000000000000000"}
                      ]}
                    ]},
                    {"filter": "other", "section": "year", "refused": "filterNotFound", "because": "no filter 'other'"}
                  ]
                }
                """# + invalid.joined()
        }

        private static let votes = """
            {
              "title": "the score is the sum of the votes, also after a restart",
              "steps": [
                {"cast": 1, "item": "film", "actor": 1, "is": {"tally": {"count": 1, "score": 1}}},
                {"cast": -1, "item": "film", "actor": 2, "is": {"tally": {"count": 2, "score": 0}}},
                {"cast": 1, "item": "film", "actor": 2, "is": {"tally": {"count": 2, "score": 2}}},
                {"retract": true, "item": "film", "actor": 1, "is": {"tally": {"count": 1, "score": 1}}},
                {"cast": -1, "actor": 3},
                {"restart": true},
                {"tally": true, "item": "film", "is": {"count": 1, "score": 1}},
                {"tally": true, "is": {"count": 1, "score": -1}},
                {"cast": 0, "item": "film", "refused": "refused", "because": "from -1 to 1 in steps of 2"}
              ]
            }
            """

        private static let comments = #"""
            {
              "title": "links wait, shouting is refused, and an edit is judged as a comment",
              "settings": {"links": 1},
              "steps": [
                {"facts": true, "is": {"maxLength": 5000}},
                {"post": "see https://a.example \u0001\"\\", "id": "a", "item": "film", "is": {"comment": {"state": "shown"}}},
                {"post": "https://a.example http://b.example", "id": "b", "item": "film", "is": {"comment": {"state": "pending"}}},
                {"post": "https://a.example http://b.example", "item": "film", "moderator": true, "is": {"comment": {"state": "shown"}}},
                {"edit": "a", "text": "http://a.example http://b.example", "is": {"comment": {"state": "pending"}}},
                {"post": "THIS IS THE VERY BEST OF ÄLL", "item": "film", "refused": "refused", "because": "without shouting"},
                {"change": {"links": 2}, "is": true},
                {"post": "https://a.example http://b.example", "id": "c", "item": "film", "is": {"comment": {"state": "shown"}}}
              ]
            },
            {"title": "fewer links than none", "settings": {"links": -1}, "refused": "links"}
            """#
    }
}
