import Foundation
import TestSupport
import Testing

extension Stories {
    /// What asks at a terminal: `edit`, and what erases.
    @Suite struct Questions {
        @Test func `a definition is edited, shown, and applied on a yes`() async throws {
            try await withFilms { daemon in
                let edit = "EDITOR='sed -i \"s/^title: .*/title: Cinema/\"' atriumctl edit films"
                try await Tmux.run(edit, on: daemon) { terminal in
                    try await terminal.shows("+ title: Cinema")
                    try await terminal.shows("Apply it? [y/N, e to edit again]")
                    try await terminal.type("y")
                    try await terminal.press("Enter")
                    try await terminal.shows("films changed")
                    try await terminal.shows("ended with 0")
                }
                let again = try await daemon.type(edit)
                #expect(again.status == 0 && again.errors == "nothing was changed\n", "\(again)")
                #expect(try await daemon.type("ls -d atrium-edit-*").status == 2, "nothing is left")
            }
        }

        @Test func `nonsense is refused with its line, and kept`() async throws {
            try await withFilms { daemon in
                let bad = try await daemon.type(
                    "EDITOR='sed -i \"s/scale: 5/scale: many/\"' atriumctl edit films --yes")
                #expect(bad.status == 1)
                let line = try #require(
                    bad.errors.firstMatch(of: #/films\.yaml:(\d+):\d+: .*setting 'scale'/#),
                    "\(bad)")
                let kept = try await daemon.type(
                    "sed -n \(line.output.1)p atrium-edit-*/films.yaml")
                #expect(kept.output.contains("scale: many"), "\(kept)")
                let other = try await daemon.type(
                    "EDITOR='sed -i \"s/^container: .*/container: flims/\"' atriumctl edit films --yes"
                )
                #expect(other.errors.contains("this defines flims, not 'films' alone"), "\(other)")
                let unasked = try await daemon.type(
                    "EDITOR='sed -i \"s/^title: .*/title: Kino/\"' atriumctl edit films")
                #expect(unasked.status == 1)
                #expect(
                    unasked.errors.contains("nobody to ask, and no --yes\nhint: your text is kept"),
                    "\(unasked)")
                let broken = try await daemon.type("EDITOR=false atriumctl edit films")
                #expect(
                    broken.errors
                        == "atriumctl: the editor 'false' failed, and nothing was applied\n",
                    "nothing was written, so nothing is kept")
            }
        }

        @Test func `what can't be edited leaves no text behind`() async throws {
            try await withFilms { daemon in
                let missing = try await daemon.type("EDITOR=no-such-editor atriumctl edit films")
                #expect(missing.status == 1)
                #expect(missing.errors.contains("there is no editor 'no-such-editor'"))
                let vi = try await daemon.type("unset EDITOR VISUAL; atriumctl edit films")
                #expect(vi.status == 2, "\(vi)")
                #expect(vi.errors.contains("there is no terminal to edit in"), "\(vi)")
                #expect(try await daemon.type("ls -d atrium-edit-*").status == 2)
            }
        }

        @Test func `a terminal is asked before anything is erased, and no means no`() async throws {
            try await withFilms { daemon in
                let lines = [
                    "atriumctl remove films/alien-1979 --purge",
                    "atriumctl detach films talk --purge",
                    "atriumctl delete films --purge",
                    "atriumctl moderate films offer removed",
                ]
                try await Tmux.run(lines.joined(separator: "; "), on: daemon) { terminal in
                    for what in [
                        "'films/alien-1979' with all", "the data of 'talk' of", "'films' with its",
                        "the text of 'offer' in films",
                    ] {
                        try await terminal.shows("Erase \(what)")
                        try await terminal.press("Enter")
                    }
                    try await terminal.shows("ended with 1")
                }
                let kept = try await daemon.type("atriumctl list films -o ids")
                #expect(kept.lines.count == 125)
            }
        }

        @Test func `where nobody can be asked nothing is erased without --yes`() async throws {
            try await withFilms { daemon in
                for line in [
                    "atriumctl remove films/alien-1979 --purge",
                    "atriumctl detach films talk --purge", "atriumctl erase web:42",
                    "atriumctl apply -f $EXAMPLES/films.yaml --prune",
                    "atriumctl delete films --purge",
                ] {
                    let refused = try await daemon.type(line)
                    #expect(refused.status == 2, "\(line): \(refused)")
                    #expect(
                        refused.errors.contains("no terminal to confirm it\nhint: add --yes."))
                }
                let erased = try await daemon.type(
                    """
                    atriumctl remove films/alien-1979 --purge --yes &&
                    atriumctl detach films talk --purge --yes && atriumctl delete films --purge --yes
                    """)
                #expect(erased.status == 0, "\(erased)")
            }
        }

        @Test func `the end of input at a question means no`() async throws {
            try await withFilms { daemon in
                let edit = "EDITOR='sed -i \"s/scale: 5/scale: many/\"' atriumctl edit films"
                try await Tmux.run(edit, on: daemon) { terminal in
                    try await terminal.shows("Edit it again? [Y/n]")
                    // Ctrl-C ends the question without a word.
                    try await terminal.shows("your text is in ")
                    try await terminal.press("C-d")
                    try await terminal.shows("your text is kept: once it is corrected")
                    try await terminal.shows("ended with 1")
                }
            }
        }

        @Test(arguments: [
            ("^title: .*/title: Cinema", "Apply it?", "kept: 'atriumctl", []),
            (
                "scale: 5/scale: many", "Edit it again?", "kept: once it is corrected, 'atriumctl",
                []
            ),
            // Ctrl-D passes on a part of a line, whose end is still waited for.
            ("^title: .*/title: Cinema", "Apply it?", "kept: 'atriumctl", ["y", "C-d"]),
        ])
        func `Ctrl-C at a question of edit says where the text is`(
            change: String, question: String, hint: String, keys: [String]
        ) async throws {
            try await withFilms { daemon in
                let edit = "EDITOR='sed -i \"s/\(change)/\"' atriumctl edit films"
                try await Tmux.run(edit, columns: 200, on: daemon) { terminal in
                    try await terminal.shows(question)
                    for key in keys + ["C-c"] { try await terminal.press(key) }
                    try await terminal.shows("nothing was applied")
                    try await terminal.shows("your text is \(hint) apply -f ")
                    try await terminal.shows("ended with 130")
                }
                let kept = try await daemon.type("ls atrium-edit-*/films.yaml")
                #expect(kept.lines.count == 1, "\(kept)")
                let same = try await daemon.type("atriumctl describe films --definition")
                #expect(same.output.contains("title: Film club"), "\(same)")
            }
        }

        @Test func `apply --prune asks on a terminal before it erases`() async throws {
            try await withFilms { daemon in
                let voted = try await daemon.type(
                    "atriumctl vote films/alien-1979 5 && "
                        + "sed /org.atrium.stars/d $EXAMPLES/films.yaml >less.yaml")
                #expect(voted.status == 0, "\(voted)")
                let line = "atriumctl apply -f less.yaml --prune"
                try await Tmux.run(line, on: daemon) { one in
                    try await one.shows("Erase the data of components")
                    try await one.type("n")
                    try await one.press("Enter")
                    try await one.shows("nothing was erased")
                    try await one.shows("ended with 1")
                }
                let kept = try await daemon.type("atriumctl describe films/alien-1979")
                #expect(kept.output.contains("5 from 1 vote"), "\(kept)")
                try await Tmux.run("\(line) --yes", name: "two", on: daemon) { one in
                    try await one.shows("ended with 0")
                }
                let again = try await daemon.type(
                    "atriumctl apply -f $EXAMPLES/films.yaml && atriumctl describe films/alien-1979"
                )
                #expect(!again.output.contains("5 from 1 vote"), "\(again)")
            }
        }
    }
}
