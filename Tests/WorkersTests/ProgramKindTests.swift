import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
import Host
import Logging
import PluginLoader
import TestSupport
import Testing

@testable import Workers

/// Programs of the kinds comments, filters and contents, in real workers.
///
/// What holds for programs of every kind is in ``A plugin that is a program``.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the programs are in Python"))
struct `A program` {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func plugin(_ kind: Kind, _ methods: String) throws -> Plugin {
        try .python(kind, methods, in: folder)
    }

    @Test(arguments: [
        (Kind.comments, Self.censor), (.filters, Self.offers), (.contents, Self.source),
    ])
    func `of each kind is stopped at the end`(kind: Kind, methods: String) async throws {
        let log = CapturedLog()
        let component = Installed.component(of: try plugin(kind, methods), logger: log.logger)
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        await component.stop()
        try await eventually("it has been asked to stop") {
            log.events.contains { $0["text"] == "stops" }
        }
    }

    // MARK: Comments

    private static let censor = """
        def Start(container, component, settings): return {"maxLength": 100, "subjects": ["items"]}

        def Post(draft):
            if "nonsense" in draft["text"]: return {"waits": "perhaps"}
            if "rude" in draft["text"]: raise Error("Refused", {"reason": "Be polite.", "retryAfter": None})
            return {"waits": "http" in draft["text"] and not draft["moderator"]}
        """

    @Test func `of comments decides which texts wait or are refused, new and edited ones`()
        async throws
    {
        let component = Installed.component(of: try plugin(.comments, Self.censor))
        #expect(try await component.start(settings: [:], fields: []) == .comments)
        #expect(
            try await component.facts()
                == .comments(CommentFacts(maxLength: 100, moderated: false, subjects: [.items])))
        let shown = try await component.post("a", "Nice.", by: 1)
        #expect(shown.state == .shown)
        #expect(try await component.post("b", "See http://x.example", by: 1).state == .pending)
        #expect(try await component.edit("a", "http://y.example", by: 1).state == .pending)
        let rude = await #expect(throws: Refusal.self) {
            try await component.post("c", "rude", by: 1)
        }
        #expect(rude == Refusal(.refused, "Be polite."))
        // The worker's own rules come before the program.
        await #expect(throws: Refusal.self) {
            try await component.post("c", String(repeating: "x", count: 101), by: 1)
        }
        await #expect(throws: Refusal.self) { try await component.edit("a", "Mine.", by: 2) }
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `of comments that decides by nonsense has the comment refused, and goes on`()
        async throws
    {
        let component = Installed.component(of: try plugin(.comments, Self.censor))
        _ = try await component.start(settings: [:], fields: [])
        let refusal = await #expect(throws: Refusal.self) {
            try await component.post("a", "nonsense", by: 1)
        }
        #expect(refusal?.reason.contains("of the plugin org.test.program answered 'Post'") == true)
        #expect(try await component.post("b", "Nice.", by: 1).state == .shown)
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    // MARK: Filters

    private static let offers = """
        def Start(container, component, settings, fields):
            return {"observe": ["genres"], "preselection": {"length": ["short"]}, "sections": sections([])}

        def sections(genres):
            short = {"id": "short", "title": "Short", "all": [{"field": "duration", "most": 5400}],
                     "none": [{"field": "genres", "text": "drama"}]}
            either = [{"field": "genres", "text": genre} for genre in genres]
            return [{"id": "length", "title": "Length", "input": "single", "filters": [short]},
                    {"id": "genre", "title": "Genre", "input": "several", "more": True,
                     "filters": [{"id": "any", "title": "Any", "any": either}] if genres else []}]

        def Values(values, cut): return {"sections": sections(values["genres"])}

        def Find(section, id):
            if id == "other": return {"filter": {"id": "another", "title": "Another"}}
            if id == "nowhere": return {"filter": {"id": id, "title": id, "all": [{"field": "nowhere", "number": 1}]}}
            if section != "genre": raise Error("FilterNotFound", {"reason": "There is only short."})
            return {"filter": {"id": id, "title": id, "all": [{"field": "genres", "contains": id}]}}
        """

    @Test func `of filters offers sections, by the values that items have`() async throws {
        let component = Installed.component(of: try plugin(.filters, Self.offers))
        #expect(try await component.start(settings: [:], fields: Conformance.fields) == .filters)
        #expect(try await component.observedFields() == ["genres"])
        guard case .sections(let before) = try await component.answer(.sections) else { return }
        #expect(before.map(\.id) == ["length", "genre"])
        #expect(before[0].input == .single && before[1].hasMore)
        #expect(
            before[0].filters.first?.predicate
                == .and([
                    .range(field: "duration", lower: nil, upper: .init(5_400)),
                    .not(.equals(field: "genres", value: "drama")),
                ]))
        #expect(before[1].filters.isEmpty)
        try await component.report(["genres": ["crime", "drama"]])
        guard case .sections(let after) = try await component.answer(.sections) else { return }
        let parts = ["crime", "drama"].map { Predicate.equals(field: "genres", value: .text($0)) }
        #expect(after[1].filters.first?.predicate == .or(parts))
        let found = try await component.answer(.filters([.init(section: "genre", filter: "noir")]))
        let noir = Filter(
            id: "noir", title: "noir", predicate: .contains(field: "genres", text: "noir"))
        #expect(found == .filters([noir]))
        for (section, filter, reason) in [
            ("length", "long", "There is only short."),
            ("none", "x", "there are: 'length', 'genre'"),
            ("genre", "nowhere", "answered 'Find' with the filter 'nowhere' of 'genre', which"),
            (
                "genre", "other",
                "answered 'Find' with the filter 'another' of 'genre', which is neither"
            ),
        ] {
            let refusal = await #expect(throws: Refusal.self) {
                try await component.answer(.filters([.init(section: section, filter: filter)]))
            }
            #expect(refusal?.reason.contains(reason) == true, "\(String(describing: refusal))")
        }
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `of filters that offers what no item can have is not started`() async throws {
        let component = Installed.component(of: try plugin(.filters, Self.offers))
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        #expect("\(String(describing: failure))".contains("observe the field 'genres'"))
    }

    @Test(arguments: [
        (#"{"id": "Genre"}"#, "offers the section 'Genre': an id is a lower-case letter, then"),
        (#"{"id": ""}"#, "offers the section '': an id is"),
        (
            #"{"id": "genre", "filters": [{"id": "a", "title": "A", "any": [{"field": "genres"}]}]}"#,
            "offers the filter 'a' of 'genre', which matches the field 'genres': "
        ),
        (
            #"{"id": "genre", "filters": [{"id": "a", "title": "A"}, {"id": "a", "title": "A"}]}"#,
            "offers the filter 'a' twice in 'genre'"
        ),
        (
            #"{"id": "genre", "filters": [{"id": "", "title": "A"}]}"#,
            "offers a filter without an id in 'genre'"
        ),
    ])
    func `of filters that offers what can't be selected is not started`(
        section: String, reason: String
    ) async throws {
        let methods = """
            def Start(container, component, settings, fields):
                return {"sections": [{"title": "T", "input": "single", **\(section)}]}
            """
        let component = Installed.component(of: try plugin(.filters, methods))
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: Conformance.fields)
        }
        #expect("\(String(describing: failure))".contains(reason), "\(String(describing: failure))")
    }

    @Test func `gets no variables of the environment but those that it needs`() async throws {
        let texts: [String] = ["ATRIUM_TEST_SECRET=hidden", "LC_MEASUREMENT=C", "PATH=/bin"]
        let mine = texts.map { (text: String) in strdup(text) }
        let copies = WorkerEnvironment.copy(of: mine + [nil])
        defer { for text in mine + copies { free(text) } }
        #expect(
            copies.compactMap { $0.map { String(cString: $0) } }
                == ["LC_MEASUREMENT=C", "PATH=/bin"])
        let methods = """
            def Start(container, component, settings, fields):
                return {"sections": [{"id": "names", "title": " ".join(os.environ), "input": "single"}]}
            """
        let component = Installed.component(of: try plugin(.filters, methods))
        _ = try await component.start(settings: [:], fields: [])
        guard case .sections(let sections) = try await component.answer(.sections) else { return }
        let names = sections.first?.title.split(separator: " ") ?? []
        #expect(names.contains("PATH"), "\(names)")
        #expect(names.filter { !WorkerEnvironment.passes($0) } == [])
        await component.stop()
    }

    @Test func `that computes for too long ends with its worker, which says so`() async throws {
        let methods = """
            def Start(container, component, settings, fields):
                return {"sections": [{"id": "all", "title": "All", "input": "several"}]}

            def Find(section, id):
                while True: pass
            """
        var limits = WorkerLimits()
        limits.call = .seconds(1)
        let component = Installed.component(of: try plugin(.filters, methods), limits: limits)
        _ = try await component.start(settings: [:], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.answer(.filters([.init(section: "all", filter: "a")]))
        }
        let reason = await component.deaths.first ?? ""
        #expect(reason.contains("; its program: computing, "), "\(reason)")
    }

    @Test func `that ends is noticed at once, though a process of its own has the socket`()
        async throws
    {
        let methods = """
            def Start(container, component, settings, fields):
                return {"sections": [{"id": "all", "title": "All", "input": "several"}]}

            def Find(section, id):
                if os.fork() == 0:
                    os.setsid()
                    socket.read(1)  # until the worker has ended, too
                os._exit(1)
            """
        let component = Installed.component(of: try plugin(.filters, methods))
        _ = try await component.start(settings: [:], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.answer(.filters([.init(section: "all", filter: "a")]))
        }
        let reason = await component.deaths.first ?? ""
        #expect(reason.contains("ended with status 1 when it was asked 'Find'"), "\(reason)")
    }

    @Test func `is ended with the processes that it has started`() async throws {
        let methods = """
            def Start(container, component, settings, fields):
                child = os.fork()
                if child == 0:
                    os.setsid()
                    signal.alarm(60)  # if nobody kills it
                    signal.pause()
                return {"sections": [{"id": "child", "title": str(child), "input": "single"}]}
            """
        let component = Installed.component(of: try plugin(.filters, methods))
        _ = try await component.start(settings: [:], fields: [])
        guard case .sections(let sections) = try await component.answer(.sections) else { return }
        let child = try #require(sections.first?.title)
        // Nothing of one that has ended, whether or not it was reaped.
        func isRunning() -> Bool {
            FileManager.default.contents(atPath: "/proc/\(child)/cmdline")?.isEmpty == false
        }
        #expect(isRunning())
        await component.stop()
        try await eventually("its process is gone") { !isRunning() }
    }

    @Test func `of filters that offers too many sections is not started, whatever their number`()
        async throws
    {
        let methods = """
            def Start(container, component, settings, fields):
                return {"sections": [{"id": "s%d" % n, "title": "T", "input": "single"} for n in range(10000)]}
            """
        let component = Installed.component(of: try plugin(.filters, methods))
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: Conformance.fields)
        }
        let problem = "\(String(describing: failure))"
        #expect(problem.contains("offers 10000 sections, where 256 are allowed"), "\(problem)")
    }

    @Test func `of filters that replies nonsense to new values ends its worker`() async throws {
        let component = Installed.component(
            of: try plugin(
                .filters,
                Self.offers.replacing("sections(values[\"genres\"])", with: "sections([]) * 2")))
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        await #expect(throws: PortFailure.self) {
            try await component.report(["genres": ["crime"]])
            _ = try await component.answer(.sections)
        }
        #expect(await component.deaths.first?.contains("offers the section 'length' twice") == true)
    }

    // MARK: Contents

    /// Lists a and b, then c; adds a word to b and leaves out a; then says that it can't be read.
    private static let source = """
        count = 0

        def Start(container, component, settings, fields): return {"listen": 1}

        def item(id, title=None): return {"id": id, "fields": {"title": title or id}}

        def Listen():
            global count
            count += 1
            if count == 1: return {"items": [item("a"), item("b")], "more": True}
            if count == 2: return {"items": [item("c")], "all": True}
            if count == 3: return {"items": [item("b", "b again"), item("c")], "all": True}
            if count == 4: return {"items": [item("d")], "removed": ["c"]}
            os._exit(4)
        """

    @Test func `of contents lists items, and its worker reports what differs`() async throws {
        let component = Installed.component(of: try plugin(.contents, Self.source))
        #expect(
            try await component.start(settings: [:], fields: Conformance.fields) == .contents)
        try await eventually("it has listed all, changed, and ended") {
            await component.deaths.count == 1
        }
        let events = await component.events
        let changes = events.compactMap { event -> ContentChange? in
            if case .contents(let change) = event { change } else { nil }
        }
        #expect(
            changes == [
                .replaceAll, .update([Item(id: "b", fields: ["title": "b again"])]),
                .remove(["a"]), .insert([Item(id: "d", fields: ["title": "d"])]), .remove(["c"]),
            ])
        #expect(await component.deaths.first?.contains("when it was asked 'Listen'") == true)
    }

    /// Lists what a folder of macOS has: its names are in another Unicode form than ids.
    private static let names = """
        def Start(container, component, settings, fields): return {"listen": 1}

        composed, decomposed = "caf\\u00e9", "cafe\\u0301"
        def item(id): return {"id": id, "fields": {"title": "A"}, "parent": "e\\u0301"}

        count = 0
        def Listen():
            global count
            count += 1
            if count == 1: return {"items": [item(decomposed)], "all": True}
            if count == 2: return {"items": [item(composed), item("b")], "removed": [decomposed]}
            if count == 3: return {"items": [item(decomposed)]}
            if count == 4: return {"removed": [decomposed]}
            if count == 5: return {"items": [item(composed), item("b")], "all": True}
            if count == 6: return {"removed": [composed]}
            os._exit(4)
        """

    @Test func `of contents lists items whose ids are in any Unicode form`() async throws {
        let component = Installed.component(of: try plugin(.contents, Self.names))
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        try await eventually("it has listed all, changed, and ended") {
            await component.deaths.count == 1
        }
        let changes = await component.events.compactMap { event -> ContentChange? in
            if case .contents(let change) = event { change } else { nil }
        }
        let other = Item(id: "b", fields: ["title": "A"], parent: "\u{E9}")
        // It was renamed first; later it had two names, and one of them went.
        #expect(changes == [.replaceAll, .insert([other]), .remove(["caf\u{E9}"])])
        guard case .remove(let ids)? = changes.last else { return }
        #expect(ids.first?.utf8.elementsEqual("caf\u{E9}".utf8) == true, "in NFC")
        let reports = await component.messages.filter { $0.hasPrefix("reports ") }
        #expect(reports.contains { $0.contains("in two spellings") }, "\(reports)")
        #expect(reports.last == "reports nothing", "\(reports)")
    }

    @Test func `of contents that only promises more ends its worker`() async throws {
        let methods = """
            def Start(container, component, settings, fields): return {}

            def Listen(): return {"more": True}
            """
        let component = Installed.component(of: try plugin(.contents, methods))
        _ = try await component.start(settings: [:], fields: [])
        try await eventually("its worker ends") { await component.deaths.count == 1 }
        #expect(await component.deaths.first?.contains("an empty page that announces more") == true)
    }

    @Test func `of contents that never comes to an end ends its worker`() async throws {
        let methods = """
            def Start(container, component, settings, fields): return {}

            def Listen(): return {"removed": ["a"] * 200000, "more": True}
            """
        let component = Installed.component(of: try plugin(.contents, methods))
        _ = try await component.start(settings: [:], fields: [])
        try await eventually("its worker ends") { await component.deaths.count == 1 }
        let death = await component.deaths.first ?? ""
        #expect(death.contains("more than 4000000 items and ids"), "\(death)")
    }

    @Test func `of contents whose problem is an empty text has none`() async throws {
        let methods = """
            def Start(container, component, settings, fields): return {}

            def Listen(): return {"items": [{"id": "a", "fields": {"title": "a"}}], "all": True, "problem": ""}
            """
        let component = Installed.component(of: try plugin(.contents, methods))
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        try await eventually("it has listed all") {
            await component.events.contains(.contents(.replaceAll))
        }
        #expect(await component.messages.filter { $0.hasPrefix("reports ") } == ["reports nothing"])
        await component.stop()
    }

    @Test func `of contents that sends a number beyond all bounds ends its worker`()
        async throws
    {
        let methods = """
            def Start(container, component, settings, fields): return {}

            def Listen():
                # No number of Python is written like this.
                socket.write(b'{"parameters": {"items": [{"id": "vast", "fields": {"year": 1e999}}]}}\\0')
                socket.read(1)
            """
        let (_, death) = try await listing(methods)
        #expect(death.contains("'Listen'"), "\(death)")
        #expect(death.contains("items[0].fields.year"), "\(death)")
    }

    /// A program of contents whose worker its list ends, and how it ended.
    private func listing(
        _ methods: String
    ) async throws -> (component: WorkerComponent, death: String) {
        let component = Installed.component(of: try plugin(.contents, methods))
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        try await eventually("its worker ends") { await component.deaths.count == 1 }
        return (component, await component.deaths.first ?? "")
    }

    @Test func `of contents that sends a whole number that 64 bits don't hold ends its worker`()
        async throws
    {
        let methods = """
            def Start(container, component, settings, fields): return {}

            def Listen():
                return {"items": [{"id": "vast", "fields": {"year": 12345678901234567890}}], "all": True}
            """
        let (component, death) = try await listing(methods)
        #expect(death.contains("'Listen' with the item 'vast' and fields"), "\(death)")
        #expect(death.contains("a text in quotes keeps every digit"), "\(death)")
        #expect(death.contains("found 12345678901234567890"), "\(death)")
        #expect(await !component.events.contains(.contents(.replaceAll)))
    }

    @Test func `of contents takes no items from people`() async throws {
        let component = Installed.component(of: try plugin(.contents, Self.source))
        _ = try await component.start(settings: [:], fields: Conformance.fields)
        let refusal = await #expect(throws: Refusal.self) { try await component.put("x") }
        #expect(refusal?.reason.contains("a plugin's program") == true)
        await component.stop()
    }
}

extension WorkerComponent {
    /// Posts a comment on an item.
    func post(
        _ id: String, _ text: String, by actor: Int64
    ) async throws -> AtriumKit.Comment {
        let draft = CommentDraft(id: id, subject: .item("film"), parent: nil, text: text)
        return try await comment(.postComment(draft), by: actor)
    }

    func edit(
        _ id: String, _ text: String, by actor: Int64
    ) async throws -> AtriumKit.Comment {
        try await comment(.editComment(id: id, text: text), by: actor)
    }

    /// The comment that a command leaves.
    private func comment(_ command: ComponentCommand, by actor: Int64) async throws
        -> AtriumKit.Comment
    {
        let decision = try await decide(
            command,
            CommandContext(
                actor: ActorID(actor), time: Timestamp(milliseconds: 1), freshID: "fresh"))
        let change = try #require(decision.changes.first)
        return try #require(change.value.flatMap { AtriumKit.Comment(key: change.key, value: $0) })
    }
}
