import ArgumentParser
import AtriumFormats
import Interfaces
import JSONCodec
import Testing
import Varlink

@testable import atriumctl

@Suite struct `Errors in sentences` {
    private func remote<Failure: VarlinkErrorReply>(_ error: Failure) -> VarlinkRemoteError {
        VarlinkRemoteError(name: Failure.name, parameters: JSONObject(writing: error) ?? .empty)
    }

    @Test func `every error of every interface has a sentence of its own`() throws {
        var names = Set(PublishedInterfaces.all.flatMap { $0.errorNames })
        #expect(names.count > 40)
        for interface in PublishedInterfaces.all {
            for error in AllErrors.list.map({ $0.reply(of: interface) }) {
                let sentence = RemoteProblem.explain(error).sentence
                #expect(!sentence.contains(error.name), "\(error.name) has none")
                names.remove(error.name)
            }
        }
        #expect(names.isEmpty, "of these there is no case")
    }

    @Test func `every error of the protocol has a sentence of its own`() throws {
        let parameters: JSONObject = ["interface": "i", "method": "m", "parameter": "p"]
        for name in VarlinkService.errorNames {
            let error = VarlinkRemoteError(name: name, parameters: parameters)
            #expect(!RemoteProblem.explain(error).sentence.contains(name), "\(name) has none")
        }
    }

    @Test func `a store that can't be read is not described as one that can't be written`() {
        let failure = RemoteProblem.explain(
            remote(
                Containers.StoreUnavailable(
                    reason: "The store can't be read: disk I/O error", retryAfter: 1)))
        #expect(
            failure.sentence == "the store is unavailable, nothing was changed: "
                + "The store can't be read: disk I/O error")
        #expect(failure.hint == "try again in 1s.")
    }

    @Test func `a long name is quoted by its beginning`() throws {
        let id = String(repeating: "x", count: 201)
        let begun = String(repeating: "x", count: 60) + "…"
        let failure = RemoteProblem.explain(
            remote(Contents.ItemInvalid(item: id, reason: "An id has 200 bytes at most.")))
        #expect(failure.sentence == "item '\(begun)': An id has 200 bytes at most.")
        let whole = String(id.dropLast())
        let known = RemoteProblem.explain(remote(Contents.ItemInvalid(item: whole, reason: "No.")))
        #expect(known.sentence == "item '\(whole)': No.")
        var report = ImportReport()
        report.add(.init(id: id, line: 2, before: 1))
        #expect(report.complaints.first?.contains("the id '\(begun)' stands") == true)
        let shape = ItemShape(container: "films", fields: [], wishes: .init())
        #expect(shape.unknown(id).reason.count < 250)
        let table = #expect(throws: CommandFailure.self) { try TableShape([id], shape) }
        #expect((table?.lines ?? []).joined().count < 300)
        let misfit = FieldValues.Misfit(expected: "a number", found: id)
        #expect(misfit.reason == "expected a number, found '\(begun)'")
    }

    @Test func `a limit of the connection is described in the server's words`() {
        let failure = RemoteProblem.explain(
            remote(VarlinkLimitExceeded(limit: "calls", value: 9, message: "There is no room.")))
        #expect(failure == CommandFailure("There is no room."))
    }

    @Test func `a hint names the unit that the socket is of`() {
        let units = [
            "/run/atrium/atrium.sock": "atriumd", "/run/atrium-club/atrium.sock": "atriumd@club",
            "/tmp/try.sock": "atriumd", "/run/user/1000/atrium/atrium.sock": "atriumd",
        ]
        for (socket, unit) in units { #expect(ConnectionProblem.unit(of: socket) == unit) }
    }

    @Test func `an error that is not known is printed as it came`() {
        let failure = RemoteProblem.explain(
            VarlinkRemoteError(name: "org.example.Odd", parameters: ["a": 1]))
        #expect(failure.sentence == #"the daemon answered org.example.Odd: {"a":1}"#)
        #expect(failure.status == .refused)
        // One whose parameters are not as they are known.
        let changed = RemoteProblem.explain(
            VarlinkRemoteError(name: Votes.Refused.name, parameters: ["why": "no"]))
        #expect(changed.sentence == #"the daemon answered org.atrium.Votes.Refused: {"why":"no"}"#)
    }

    @Test func `an unknown filter names the nearest, and what there is`() {
        let failure = RemoteProblem.explain(
            remote(
                Interfaces.Filters.FilterNotFound(
                    section: "genre", filter: "dram", known: ["crime", "drama"])))
        #expect(failure.sentence == "there is no filter 'genre=dram'")
        #expect(failure.hint == "did you mean 'drama'? There are: crime, drama.")
    }

    @Test func `an unknown scope names the nearest, and what there is`() {
        let wrong = RemoteProblem.explain(
            remote(Screens.ScopeNotFound(scope: "pst", known: ["now", "past"])))
        #expect(wrong.sentence == "there is no scope 'pst'")
        #expect(wrong.hint == "did you mean 'past'? There are: now, past.")
        let none = RemoteProblem.explain(remote(Screens.ScopeNotFound(scope: "pst", known: [])))
        #expect(none.hint == "the container has no scopes.")
    }

    @Test func `a filter of an unknown section has the nearest section named`() {
        let failure = RemoteProblem.explain(
            remote(
                Interfaces.Filters.FilterNotFound(
                    section: "gender", filter: "x", known: ["genre", "rating"])))
        #expect(failure.sentence == "there is no section of filters 'gender'")
        #expect(failure.hint == "did you mean 'genre'? There are: genre, rating.")
        let other = RemoteProblem.explain(
            remote(
                Interfaces.Filters.FilterNotFound(section: "foo", filter: "bar", known: ["genre"])))
        #expect(other.sentence == "there is no section of filters 'foo'")
        #expect(other.hint == "There is: genre.")
    }

    @Test func `a mistyped command has the nearest one named`() {
        #expect(throws: Never.self) {
            for words in [
                ["list", "films"], ["--help"], [], ["plugin", "describe", "x"],
                ["plugin", "--help"],
                ["screen"],
            ] {
                try CommandLineWords.check(words, of: Atriumctl.self)
            }
        }
        #expect(
            throws: CommandFailure(
                "there is no command 'lst'",
                hint: "did you mean 'list'? 'atriumctl --help' lists them.", status: .usage)
        ) { try CommandLineWords.check(["lst", "films"], of: Atriumctl.self) }
        #expect(
            throws: CommandFailure(
                "there is no command 'search'",
                hint: "did you mean 'list CONTAINER --search TEXT'? 'atriumctl --help' lists them.",
                status: .usage)
        ) { try CommandLineWords.check(["search", "films", "heat"], of: Atriumctl.self) }
        #expect(
            throws: CommandFailure(
                "there is no command 'atriumctl screen selec'",
                hint: "did you mean 'select'? 'atriumctl screen --help' lists them.",
                status: .usage)
        ) { try CommandLineWords.check(["screen", "selec", "x"], of: Atriumctl.self) }
        #expect(
            throws: CommandFailure(
                "there is no command 'atriumctl plugin nope'",
                hint: "'atriumctl plugin --help' lists them.", status: .usage)
        ) { try CommandLineWords.check(["plugin", "nope"], of: Atriumctl.self) }
    }

    @Test func `a filter of another form is refused with the form`() {
        let failure = RemoteProblem.explain(
            remote(
                Interfaces.Filters.FilterNotFound(
                    section: "rating", filter: "6-8", known: [],
                    reason: "The section 'rating' has no filter '6-8'; write a range FROM..TO.")))
        #expect(failure.sentence == "there is no filter 'rating=6-8'")
        #expect(failure.hint == "write a range FROM..TO.")
    }

    @Test func `a value that no item has is named with the nearest one`() throws {
        let genres = Section(
            id: "genre", title: "Genre", input: .several,
            filters: [.init(id: "drama", title: "Drama", count: 3, selected: false)])
        let choices = ["genre=dramma", "genre=drama", "year=1..2"]
            .compactMap(FilterChoice.init(argument:))
        #expect(
            FilterHint.lines(choices, [genres]) == [
                "no item has genre 'dramma'; did you mean 'drama'?"
            ])
    }

    @Test func `help is asked about what there is`() throws {
        try CommandLineWords.checkHelp(["help"], of: Atriumctl.self)
        try CommandLineWords.checkHelp(["help", "screen", "sort"], of: Atriumctl.self)
        try CommandLineWords.checkHelp(["help", "help", "--socket", "s"], of: Atriumctl.self)
        #expect(
            throws: CommandFailure(
                "there is no command 'atriumctl screen srt'",
                hint: "did you mean 'sort'? 'atriumctl screen --help' lists them.",
                status: .usage)
        ) { try CommandLineWords.checkHelp(["help", "screen", "srt"], of: Atriumctl.self) }
    }

    @Test func `the store of watch goes with a sequence of it`() throws {
        #expect(throws: (any Error).self) { try WatchCommand.parse(["--store", "x"]) }
        let both = try WatchCommand.parse(["--store", "x", "--after", "0"])
        #expect(both.store == "x" && both.after == 0)
    }

    @Test func `a vote below zero is no option`() {
        #expect(
            CommandLineWords.shieldNegative(["vote", "films", "-1", "--json"])
                == ["vote", "films", "--json", "--", "-1"])
        #expect(
            CommandLineWords.shieldNegative(["move", "films", "talk", "-1"])
                == ["move", "films", "talk", "--", "-1"], "neither is a place")
        let others = ["list", "films", "--limit", "-1"]
        #expect(CommandLineWords.shieldNegative(others) == others)
    }

    @Test func `a definition without its option is named with it`() {
        #expect(throws: Never.self) {
            try CommandLineWords.checkFile(["apply", "-f", "films.yaml"])
            try CommandLineWords.checkFile(["apply", "--dry-run", "--file=films.yaml"])
            try CommandLineWords.checkFile(["list", "films"])
            try CommandLineWords.checkFile(["apply", "-yf", "films.yaml", "--socket", "s"])
            try CommandLineWords.checkFile(["apply", "films.yaml", "--help"])
            // The option's value is missing, which the parser names.
            try CommandLineWords.checkFile(["apply", "films.yaml", "-f"])
        }
        #expect(
            throws: CommandFailure(
                "'my films.yaml' stands there without -f",
                hint: "atriumctl apply -f 'my films.yaml'", status: .usage)
        ) { try CommandLineWords.checkFile(["apply", "my films.yaml"]) }
        for (words, hint) in [
            ("apply --dry-run a.yaml", "apply --dry-run -f a.yaml"),
            ("apply -f a.yaml b.yaml c.yaml", "apply -f a.yaml -f b.yaml -f c.yaml"),
            ("apply --socket s a.yaml -y", "apply --socket s -f a.yaml -y"),
            ("apply -- a.yaml", "apply -f a.yaml"), ("apply -", "apply -f -"),
        ] {
            let failure = #expect(throws: CommandFailure.self) {
                try CommandLineWords.checkFile(words.split(separator: " ").map(String.init))
            }
            #expect(failure?.hint == "atriumctl \(hint)")
        }
    }

    @Test(arguments: [
        (["describe", "films/"], "write CONTAINER or CONTAINER/ITEM."),
        (["list", "films", "--filter", "genre"], "write SECTION=FILTER, as in genre=drama."),
        (["screen", "select", "s", "genre"], "write SECTION=FILTER, as in genre=drama."),
        (["vote", "films/alien-1979", "nan"], "a vote is a number, such as 4 or 0.5."),
        (["move", "films", "talk", "--", "-1"], "A place is a number from 0."),
        (
            ["attach", "films", "c", "--plugin", "p", "--at", "-1"], "--at is a place from 0."
        ), (["vote", "films/alien-1979", "1e400"], "a vote is a number, such as 4 or 0.5."),
        (["vote", "films/alien-1979", "0x4"], "a vote is a number, such as 4 or 0.5."),
        (["describe", "films/alien-1979", "--definition"], "leave the item out."),
    ])
    func `an argument of another form is wrong usage, and the form is said`(
        words: [String], form: String
    ) {
        let error = #expect(throws: (any Error).self) { try Atriumctl.parseAsRoot(words) }
        guard let error else { return }
        #expect(Atriumctl.exitCode(for: error) == .validationFailure)
        #expect(Atriumctl.message(for: error).hasSuffix(form), "\(Atriumctl.message(for: error))")
    }

    @Test(arguments: [
        (["thread", "films/a", "--depth", "-1"], "--depth is a number from 0."),
        (["watch", "--after", "-1"], "--after is a sequence from 0."),
        (["list", "films", "--sort", ""], "--sort names a field, or several with commas between."),
        (
            ["open", "films", "--sort", "year,"],
            "--sort names a field, or several with commas between."
        ),
        (["metrics", "--output", ""], "--output names a file, or '-'."),
        (["backup", ""], "'' is no file: name one, or '-'."),
        (["list", "films", "--limit", "99999999999999999999"], "from 1 to \(Int.max)."),
    ])
    func `a value that means nothing is wrong usage, and says what would`(
        words: [String], reason: String
    ) {
        let error = #expect(throws: (any Error).self) { try Atriumctl.parseAsRoot(words) }
        guard let error else { return }
        #expect(Atriumctl.exitCode(for: error) == .validationFailure)
        #expect(Atriumctl.message(for: error).hasSuffix(reason), "\(Atriumctl.message(for: error))")
    }

    @Test func `a component that does not run, or reports a problem, is named once it is attached`()
    {
        var component = Component(
            name: "slow", kind: "votes", plugin: "org.example.slow", title: "Slow", hidden: false,
            isolation: .process, state: .attached)
        #expect(AttachCommand.note(component) == nil)
        component.reason = "the folder is gone"
        #expect(AttachCommand.note(component) == "slow reports a problem: the folder is gone")
        component.state = .starting
        component.reason = nil
        #expect(AttachCommand.note(component) == "slow has not started yet")
        component.state = .failed
        component.reason = "it ended"
        #expect(AttachCommand.note(component) == "slow does not run: it ended")
    }

    @Test func `a component that is missing is named with the kind that is needed`() {
        let typed = RemoteProblem.explain(
            remote(Contents.ComponentNotFound(container: "films", component: "stars")))
        #expect(
            typed.sentence == "the container 'films' has no component 'stars' of the kind contents")
        let none = RemoteProblem.explain(
            remote(Contents.ComponentNotFound(container: "films", component: "contents")))
        #expect(none.sentence == "the container 'films' has no component of the kind contents")
        let any = RemoteProblem.explain(
            remote(Containers.ComponentNotFound(container: "films", component: "stars")))
        #expect(any.sentence == "the container 'films' has no component 'stars'")
    }

    @Test(arguments: [
        ("stars", "contents", "'stars' is of the kind votes; this needs contents: list."),
        ("stars", "comments", "'stars' is of the kind votes; this needs comments: there is none."),
        (
            "lst", "contents",
            "did you mean 'list'? Its components are: list (contents), stars (votes)."
        ),
        ("star", "contents", "its components are: list (contents), stars (votes)."),
        ("star", nil, "did you mean 'stars'? Its components are: list (contents), stars (votes)."),
        ("comments", "comments", "its components are: list (contents), stars (votes)."),
    ])
    func `the hint names components that fit, never the one just typed`(
        wanted: String, kind: String?, hint: String
    ) {
        let components = [(name: "list", kind: "contents"), (name: "stars", kind: "votes")]
        #expect(ComponentProblem.hint(wanted, kind, among: components) == hint)
        #expect(ComponentProblem.hint(wanted, kind, among: []) == nil)
    }

    @Test func `an item in place of a container is sent to the command that shows it`() {
        #expect(
            RemoteHints.itemHint("films/alien-1979", containers: ["films"])
                == "this takes a container, as 'films'; "
                + "'atriumctl describe films/alien-1979' shows an item.")
        #expect(RemoteHints.itemHint("alien-1979", containers: ["films"]) == nil)
        #expect(RemoteHints.itemHint("other/x", containers: ["films"]) == nil)
    }

    @Test(arguments: [
        ("maxLength", 10_000, "a comment has at most 10,000 characters"),
        ("seats", 4, "the limit seats (4) is exceeded"),
        ("reasonLength", 500, "a reason has at most 500 characters"),
        ("components", 64, "a container has at most 64 components"),
        ("containers", 1000, "the daemon takes at most 1,000 containers"),
        ("screensPerUser", 1, "you have 1 screen open already, and no more are taken"),
        ("backups", 1, "there is 1 backup already, and no more are taken"),
        ("exports", 4, "there are 4 exports already, and no more are taken"),
    ])
    func `a limit says what it allows`(
        limit: String, value: Int, sentence: String
    ) {
        #expect(LimitWording.sentence(limit, value) == sentence)
    }

    @Test func `a limit is described in the words of the command`() {
        let failure = RemoteProblem.explain(
            remote(Contents.LimitExceeded(limit: "pageItems", value: 1000, retryAfter: nil)))
        #expect(failure.sentence == "a page holds 1 to 1000")
        #expect(failure.hint == nil)
    }

    @Test func `a limit that can be raised says where`() {
        func told(_ retryAfter: Double?) -> CommandFailure {
            RemoteProblem.explain(
                remote(
                    Screens.LimitExceeded(
                        limit: "screens", value: 9, retryAfter: retryAfter,
                        setting: "limits.screens")))
        }
        let raise = "an administrator can raise limits.screens in the daemon's atrium.yaml."
        #expect(told(nil).hint == raise)
        #expect(told(nil).sentence.hasSuffix("no more are taken (limits.screens)"))
        #expect(told(5).hint == "try again in 5s; " + raise)
    }

    @Test func `a definition's mistake stands as compilers write it`() {
        let failure = RemoteProblem.explain(
            remote(
                Containers.DefinitionInvalid(
                    file: "films.yaml", line: 3, column: 5, reason: "unknown key 'titel'",
                    hint: "did you mean 'title'?")))
        #expect(
            failure.lines == [
                "atriumctl: films.yaml:3:5: unknown key 'titel'", "hint: did you mean 'title'?",
            ])
    }

    @Test func `when to try again is printed`() {
        let failure = RemoteProblem.explain(
            remote(Votes.Refused(reason: "Too many votes.", retryAfter: 90)))
        #expect(failure.sentence == "Too many votes.")
        #expect(failure.hint == "try again in 1m30s.")
        let atOnce = RemoteProblem.explain(
            remote(Containers.StoreUnavailable(reason: "It was ended; begin again.", retryAfter: 0))
        )
        #expect(atOnce.hint == "try again.")
    }

    @Test func `a denied call says which role it wants`() {
        let failure = RemoteProblem.explain(
            remote(
                Daemon.RoleRequired(
                    method: "org.atrium.Contents.Put", role: "moderator", yours: "member")))
        #expect(
            failure.sentence
                == "org.atrium.Contents.Put wants the role moderator; yours is member")
    }

    @Test func `who lacks a role gets the line, its file and how to reload`() throws {
        func hint(_ socket: String, role: String) -> String {
            RoleHint(socket: socket, user: "ann").hint(role: role)
        }
        #expect(
            hint("/run/atrium/atrium.sock", role: "moderator")
                == "an administrator adds this line to /etc/atrium/atrium.yaml, or ann to the list "
                + "that is there:\nmoderators: [ann]\nand runs 'systemctl reload atriumd'.")
        let club = hint("/run/atrium-club/atrium.sock", role: "admin")
        #expect(club.contains("/etc/atrium-club/atrium.yaml") && club.contains("admins: [ann]"))
        #expect(club.hasSuffix("'systemctl reload atriumd@club'."))
        let other = hint("/tmp/try.sock", role: "member")
        #expect(other.contains("the daemon's atrium.yaml") && other.contains("members: [ann]"))
        #expect(other.hasSuffix("'atriumctl reload'."))
        let front = RoleHint(socket: "/run/atrium/atrium.sock", user: "www-data")
        #expect(front.hint(actor: "web:42")?.contains("frontends: [www-data=web]") == true)
        #expect(front.hint(actor: "unix:7")?.contains("leave the actor out") == true)
        #expect(front.hint(actor: "nobody") == nil)
    }

    @Test func `texts of the daemon can't drive the terminal`() {
        let failure = RemoteProblem.explain(
            remote(Votes.Refused(reason: "no\u{1B}[2Jway", retryAfter: nil)))
        #expect(failure.lines == [#"atriumctl: no\u{1b}[2Jway"#])
    }

    @Test(arguments: ["", "unix:", "tcp:x", "ssh-unix:x"])
    func `what is no address is wrong usage`(address: String) async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await Session(socket: address)
        }
        #expect(failure?.status == .usage)
        #expect(failure?.sentence.contains("'\(address)'") == true)
    }

    @Test func `a folder is no socket on which nobody listens`() async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await Session(socket: "/usr")
        }
        #expect(failure?.status == .unreachable)
        #expect(failure?.sentence == "/usr is no socket")
    }

    @Test func `a missing socket is unreachable, and says how to start a daemon`() async throws {
        let failure = try #require(
            await #expect(throws: CommandFailure.self) {
                try await Session(socket: "/nonexistent/atrium.sock")
            })
        #expect(failure.status == .unreachable)
        #expect(failure.sentence.contains("/nonexistent/atrium.sock"))
        #expect(failure.hint?.contains("is atriumd running?") == true)
    }

    @Test(arguments: [
        ("film", ["films", "debian"], "films"), ("debain", ["films", "debian"], "debian"),
        ("titel", ["genres", "title"], "title"),
        ("warn", ["info", "warning", "error"], "warning"),
        ("alien-1997", ["aliens-1986", "alien-1979"], "alien-1979"),
    ])
    func `the nearest name is found`(wanted: String, known: [String], nearest: String) {
        #expect(Nearest.name(to: wanted, in: known) == nearest)
    }

    @Test func `a name that is like no other has no nearest`() {
        #expect(Nearest.name(to: "books", in: ["films", "debian"]) == nil)
        #expect(Nearest.name(to: "books", in: []) == nil)
        #expect(Nearest.name(to: "x", in: ["b", "ab"]) == nil, "a letter is like every other")
        #expect(Nearest.name(to: "books", in: ["books"]) == nil, "it is the name just typed")
    }
}
