import Foundation
import TestSupport
import Testing

extension Stories {
    /// What shells offer when somebody presses TAB: the daemon's own names.
    @Suite struct Completions {
        /// Lines with what TAB makes of each.
        private static let lines = [
            ("atriumctl lis", "list"), ("atriumctl list fi", "films"),
            ("atriumctl help log", "log-level"),
            ("atriumctl vote films/alien-", "films/alien-1979"),
            ("atriumctl list films --sort rat", "rating"),
            ("atriumctl hide films st", "stars"),
            ("atriumctl list films --scope pa", "past"),
            ("atriumctl screen scope any-screen no", "now"),
            ("atriumctl attach films more --plugin org.atrium.th", "org.atrium.threads"),
            ("atriumctl call org.atrium.Contents.G", "org.atrium.Contents.Get"),
            ("atriumctl log-level wa", "warning"),
            ("atriumctl list films --filter gen", "genre="),
            ("atriumctl list films --filter genre=dra", "drama"),
            ("atriumctl list films --filter genre=crime --filter genre=dra", "drama"),
            ("atriumctl list films --filter genre=crime --sort rat", "rating"),
        ]
        /// What bash offers though it takes `=` for the end of a word: a list too, and the value of an
        /// option that is one word with it.
        private static let splitLines = [
            ("atriumctl open films --filter genre=", "thriller"),
            ("atriumctl list films --filter=gen", "genre="),
            ("atriumctl list films --filter=genre=dra", "drama"),
            ("atriumctl vote films --component=st", "stars"),
        ]

        private static let bash = """
            source <(atriumctl --generate-completion-script bash)
            COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=($1)
            [[ $1 != *' ' ]] || COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _atriumctl atriumctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            [ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
            """

        private func offered(_ line: String, _ daemon: DaemonUnderTest) async throws -> [String] {
            let script = Self.bash.replacing("'", with: #"'\''"#)
            let done = try await daemon.type("bash -c '\(script)' complete '\(line)'")
            #expect(done.errors == "", "\(line)")
            return done.lines
        }

        @Test(arguments: ["bash", "zsh", "fish"])
        func
            `TAB offers containers, items, scopes, filters, fields, components, plugins and methods`(
                shell: String
            ) async throws
        {
            try await withFilms { daemon in
                guard try await daemon.type("command -v \(shell)").status == 0 else {
                    try Test.cancel("there is no \(shell): `make test-deps` installs it")
                }
                let scoped = try await daemon.type(
                    "(cat $EXAMPLES/films.yaml; echo 'scopes: [{ name: now, contents: [list] }, "
                        + "{ name: past, contents: [list] }]') >f.yaml && atriumctl apply -f f.yaml"
                )
                #expect(scoped.status == 0, "\(scoped)")
                let share = daemon.tree.bin.replacing(#/bin$/#, with: "share")
                let lines = Self.lines + (shell == "bash" ? Self.splitLines : [])
                let words = lines.map { "'\($0.0)' '\($0.1)'" }.joined(separator: " ")
                let pressed = try await daemon.type(
                    "\(Checkout.root)/Tests/Fixtures/press-tab \(shell) \(share) \(words)")
                #expect(pressed.status == 0, "\(pressed)")
            }
        }

        @Test func `components are offered to the commands that take their kind`() async throws {
            try await withFilms { daemon in
                for (line, component) in [
                    ("atriumctl list films --component ", "list"),
                    ("atriumctl describe films/alien-1979 --component ", "list"),
                    ("atriumctl export films --component ", "list"),
                    ("atriumctl vote films/alien-1979 --component ", "stars"),
                    ("atriumctl thread films/alien-1979 --component ", "talk"),
                ] {
                    let names = try await offered(line, daemon)
                    #expect(names == [component], "\(line)")
                }
            }
        }

        @Test func `an item's name that a shell would evaluate is not offered`() async throws {
            try await withFilms { daemon in
                let evil = "films/alien-$(touch owned)`touch owned`"
                let put = try await daemon.type("atriumctl put '\(evil)' title=Evil")
                #expect(put.status == 0, "\(put)")
                let names = try await offered("atriumctl vote films/alien-", daemon)
                #expect(names == ["films/alien-1979"])
                #expect(try await daemon.type("test -e owned").status == 1)
            }
        }

        @Test func `without a daemon nothing is offered, and nothing is said`() async throws {
            try await withFilms { daemon in
                let line = "atriumctl list --socket /nowhere/at.all "
                let names = try await offered(line, daemon)
                #expect(names == [])
            }
        }
    }
}
