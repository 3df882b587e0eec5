import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
import Host
import PluginLoader
import TestSupport
import Testing

@testable import Workers

/// Settings that change while a plugin's program runs, in real workers.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the programs are in Python"))
struct `A program goes on with other settings` {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func component(_ kind: Kind, _ methods: String) throws -> WorkerComponent {
        Installed.component(of: try .python(kind, methods, in: folder))
    }

    // MARK: Comments

    /// Refuses a word; says how often it was started and sent other settings.
    private static let censor = """
        def Hello(protocols):
            return {"protocol": 1, "defaults": {"word": "rude", "longest": 100}, "settings": [
                {"name": "word", "type": "text", "live": True, "summary": "what nobody writes"},
                {"name": "longest", "type": "integer", "least": 1, "live": True, "summary": "characters"},
                {"name": "place", "type": "text", "live": False, "summary": "where it is"}]}

        starts, changes, now = 0, [], {}

        def Start(container, component, settings):
            global starts
            starts += 1
            now.update(settings)
            return {"maxLength": settings["longest"], "moderated": "calm" in settings["word"]}

        def ChangeSettings(settings):
            changes.append(settings["word"])
            now.update(settings)
            return {"maxLength": settings["longest"], "moderated": "calm" in settings["word"], "subjects": ["items"]}

        def Post(draft):
            if now["word"] in draft["text"]:
                raise Error("Refused", {"reason": f"{starts} start, {len(changes)} changes: {now['word']}"})
            return {}
        """

    private func refusal(of text: String, by component: WorkerComponent) async -> String {
        do {
            _ = try await component.post("a", text, by: 1)
            return "none"
        } catch { return (error as? Refusal)?.reason ?? "\(error)" }
    }

    @Test func `of comments, where only live ones differ, and asking changes nothing`()
        async throws
    {
        let component = try component(.comments, Self.censor)
        _ = try await component.start(settings: [:], fields: [])
        #expect(await refusal(of: "rude", by: component) == "1 start, 0 changes: rude")
        let calm: [String: Value] = ["word": "calm", "longest": 9]
        #expect(try await component.answer(.canTake(calm)) == .canTake(true))
        #expect(await refusal(of: "rude", by: component) == "1 start, 0 changes: rude")
        #expect(try await component.change(settings: calm))
        #expect(await refusal(of: "calm", by: component) == "1 start, 1 changes: calm")
        #expect(await refusal(of: "far too long", by: component).contains("9 characters"))
        #expect(
            try await component.facts()
                == .comments(CommentFacts(maxLength: 9, moderated: true, subjects: [.items])))
        #expect(try await component.post("b", "rude", by: 1).text == "rude")

        for other in [
            ["word": "calm", "longest": 9, "place": "here"], ["longest": 0], ["word": 5],
            ["words": "calm"],
        ] as [[String: Value]] {
            #expect(try await !component.change(settings: other))
        }
        #expect(await refusal(of: "calm", by: component) == "1 start, 1 changes: calm")
        // The default is a value, too.
        #expect(try await component.change(settings: [:]))
        #expect(await refusal(of: "rude", by: component) == "1 start, 2 changes: rude")
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `in examples`() async throws {
        let examples = try ConformanceExample.read([
            "examples": [
                [
                    "title": "other words",
                    "steps": [
                        ["post": "rude", "item": "film", "refused": true, "because": "0 changes"],
                        ["change": ["word": "calm"], "is": true],
                        ["post": "calm", "item": "film", "refused": true, "because": "1 changes"],
                        ["facts": true, "is": ["moderated": true]],
                        ["change": ["place": "there"], "is": false],
                    ],
                ]
            ]
        ])
        let plugin = try Plugin.python(.comments, Self.censor, in: folder)
        try await Conformance.run(examples, .comments) { Installed.component(of: plugin) }
    }

    @Test func `and conforms as before`() async throws {
        let plugin = try Plugin.python(.comments, Self.censor, in: folder)
        let report = try await Conformance.run(.comments, seed: 7) {
            Installed.component(of: plugin)
        }
        #expect(report.accepted > 50)
    }

    @Test(arguments: [
        ("return {\"maxLength\": 0}", "answered 'ChangeSettings' with a maxLength of 0"),
        ("return {\"length\": 5}", "answered 'ChangeSettings' with what it does not return"),
        (
            "raise Error(\"SettingInvalid\", {\"setting\": \"word\", \"reason\": \"too short\"})",
            "answered 'ChangeSettings' with the error"
        ),
        ("os._exit(3)", "ended with status 3 when it was asked 'ChangeSettings'"),
    ])
    func `or ends its worker, which is started with them`(
        line: String, reason: String
    ) async throws {
        let component = try component(
            .comments, Self.censor + "\n\ndef ChangeSettings(settings): \(line)")
        _ = try await component.start(settings: [:], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.change(settings: ["word": "calm"])
        }
        #expect(await component.deaths.first?.contains(reason) == true)
    }

    @Test(arguments: ["path", "secret"])
    func `but not with another path or secret`(type: String) async throws {
        let component = try component(
            .comments,
            """
            def Hello(protocols):
                return {"protocol": 1, "settings": [{"name": "file", "type": "\(type)", "live": True, "summary": "a file"}]}

            def Start(container, component, settings): return {}
            """)
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        #expect("\(String(describing: failure))".contains("declares 'file' as live"))
    }

    // MARK: Votes

    /// Votes up to `most`, on what `on` says.
    private static let ballots = """
        def Hello(protocols):
            return {"protocol": 1, "defaults": {"most": 5, "on": "items"}, "settings": [
                {"name": "most", "type": "integer", "live": True, "summary": "the most that a vote may be"},
                {"name": "on", "type": "text", "live": True, "summary": "what is voted on"},
                {"name": "listen", "type": "integer", "live": True, "summary": "seconds"}]}

        votes = {}

        def Start(container, component, settings):
            terms = {"min": 1, "max": settings["most"], "subjects": [settings["on"]]}
            return dict(terms, listen=settings["listen"]) if "listen" in settings else terms

        def ChangeSettings(settings): return Start("", "", settings)

        def Restore(ballots): return {}
        def Restored(subjects): return {"scores": [votes.get(subject.get("item")) for subject in subjects]}
        def Listen(): return {"scores": [{"item": item, "score": 1000} for item in votes]}

        def Apply(actor, item=None, vote=None, previous=None):
            votes[item] = vote["value"]
            return {"score": votes[item]}
        """

    @Test func `of votes, which keep their ballots, and are listened to from then on`()
        async throws
    {
        let component = try component(.votes, Self.ballots)
        _ = try await component.start(settings: [:], fields: [])
        _ = try await component.cast(4, on: .item("a"), by: 1)
        await #expect(throws: Refusal.self) { try await component.cast(4, on: .container, by: 1) }
        #expect(try await component.change(settings: ["on": "container", "listen": 1]))
        #expect(
            try await component.facts()
                == .votes(VoteFacts(min: 1, max: 5, subjects: [.container])))
        await #expect(throws: Refusal.self) { try await component.cast(5, on: .item("a"), by: 2) }
        _ = try await component.cast(3, on: .container, by: 1)
        let scores = [Subject.item("a"), .container].map { subject in
            let histogram = subject == .container ? ["3": 1] : ["4": 1]
            return ComponentEvent.tally(
                subject, Tally(count: 1, score: 1000, histogram: histogram))
        }
        try await eventually("the scores are told") {
            let events = await component.events
            return scores.allSatisfy(events.contains)
        }
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `of votes, but not on another scale`() async throws {
        let component = try component(.votes, Self.ballots)
        _ = try await component.start(settings: [:], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.change(settings: ["most": 6])
        }
        #expect(await component.deaths.first?.contains("with another scale") == true)
    }

    // MARK: Filters

    @Test func `of filters, which observe other fields`() async throws {
        let component = try component(
            .filters,
            """
            def Hello(protocols):
                return {"protocol": 1, "settings": [
                    {"name": "field", "type": "text", "required": True, "live": True, "summary": "the field"}]}

            def Start(container, component, settings, fields): return ChangeSettings(settings)

            def ChangeSettings(settings):
                global field
                field = settings["field"]
                return {"observe": [field], "preselection": {field: ["none"]}, "sections": sections([])}

            def sections(values):
                filters = [{"id": value, "title": value, "all": [{"field": field, "text": value}]} for value in values]
                return [{"id": field, "title": field, "input": "several", "filters": filters}]

            def Values(values, cut): return {"sections": sections(values[field])}
            """)
        _ = try await component.start(
            settings: ["field": "genres"], fields: Conformance.fields)
        try await component.report(["genres": ["crime"]])
        #expect(try await component.change(settings: ["field": "title"]))
        #expect(try await component.observedFields() == ["title"])
        #expect(try await component.preselection() == Selection(["title": ["none"]]))
        guard case .sections(let before) = try await component.answer(.sections) else { return }
        #expect(before.map(\.id) == ["title"] && before.allSatisfy(\.filters.isEmpty))
        try await component.report(["title": ["Alien"]])
        guard case .sections(let after) = try await component.answer(.sections) else { return }
        #expect(after.first?.filters.map(\.id) == ["Alien"])
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    // MARK: Contents

    /// Lists an item of the name that the settings say, once there is a file of that name, and `more` if there is.
    private static let source = """
        def Hello(protocols):
            return {"protocol": 1, "settings": [
                {"name": "name", "type": "text", "required": True, "live": True, "summary": "the item"},
                {"name": "listen", "type": "integer", "live": True, "summary": "seconds"}]}

        now = {}

        def Start(container, component, settings, fields): return ChangeSettings(settings)

        def ChangeSettings(settings):
            now.clear()
            now.update(settings)
            return {"listen": settings.get("listen")}

        def Listen():
            while not os.path.exists(now["name"]): time.sleep(0.01)
            names = [name for name in [now["name"], "more"] if os.path.exists(name)]
            return {"all": True, "items": [{"id": name, "fields": {"title": "listed"}} for name in names]}
        """

    private func changes(of component: WorkerComponent) async -> [ContentChange] {
        await component.events.compactMap { event in
            if case .contents(let change) = event { change } else { nil }
        }
    }

    private func item(_ id: String) -> Item { Item(id: id, fields: ["title": "listed"]) }

    @Test func `of contents, which lists at once, and as often as they say`() async throws {
        for name in ["a", "b"] { try folder.write(name, "") }
        let component = try component(.contents, Self.source)
        _ = try await component.start(settings: ["name": "a"], fields: Conformance.fields)
        try await eventually("it has listed") { await changes(of: component) == [.replaceAll] }
        #expect(try await component.change(settings: ["name": "b", "listen": 1]))
        try await eventually("it lists the other one") {
            await changes(of: component) == [.replaceAll, .insert([item("b")]), .remove(["a"])]
        }
        try folder.write("more", "")
        try await eventually("it lists again") {
            await changes(of: component).last == .insert([item("more")])
        }
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `of contents behind a call that is under way, for which no other one waits`()
        async throws
    {
        let component = try component(.contents, Self.source)
        _ = try await component.start(settings: ["name": "a"], fields: Conformance.fields)
        #expect(try await component.change(settings: ["name": "b"]))
        #expect(try await component.change(settings: ["name": "c"]))
        #expect(await changes(of: component).isEmpty)
        for name in ["a", "c"] { try folder.write(name, "") }
        try await eventually("it lists by the last settings alone") {
            await changes(of: component) == [.replaceAll, .insert([item("c")]), .remove(["a"])]
        }
        await component.stop()
        #expect(await component.deaths.isEmpty)
    }
}
