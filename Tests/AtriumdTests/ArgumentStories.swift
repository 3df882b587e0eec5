import TestSupport
import Testing

extension Stories {
    /// Words of a command line that are no text.
    @Suite struct Arguments {
        @Test func `a word that is not UTF-8 is wrong usage, and nothing is tried`() async throws {
            try await withFilms { daemon in
                for (command, words) in [
                    (
                        "comment films/alien-1979 \"caf$(printf '\\351')\"",
                        #"argument 3 is not UTF-8: 'caf\xe9'"#
                    ),
                    (
                        "put films/x \"title=$(printf 'a\\377b')\"",
                        #"argument 3 is not UTF-8: 'title=a\xffb'"#
                    ),
                    (
                        "list films --search=\"$(printf 'é\\303')\"",
                        #"argument 3 is not UTF-8: '--search=é\xc3'"#
                    ),
                ] {
                    let said = try await daemon.type("atriumctl \(command)")
                    #expect(said.status == 2, "\(said)")
                    #expect(said.errors.contains(words), "\(said)")
                    #expect(said.output.isEmpty, "\(said)")
                }
                let thread = try await daemon.type("atriumctl thread films/alien-1979")
                #expect(thread.output.hasPrefix("0 comments"), "\(thread)")
                #expect(try await daemon.type("atriumctl list films --search café").status == 0)

                let other = try await daemon.type("atriumd --socket \"$(printf '/tmp/\\377')\"")
                #expect(other.status == 64, "\(other)")
                #expect(other.errors.contains(#"argument 2 is not UTF-8: '/tmp/\xff'"#), "\(other)")
            }
        }
    }
}
