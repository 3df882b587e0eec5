import AtriumKit
import AtriumKitTesting
import Host
import PluginLoader
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `What a worker says` {
    private let context = CommandContext(
        actor: ActorID(1), time: Timestamp(milliseconds: 0), freshID: "fresh")

    private func cheat(_ lie: String) async throws -> WorkerComponent {
        let component = Installed.component(of: Installed.cheat)
        try await component.start(["lie": .text(lie)])
        return component
    }

    @Test func `that breaks no rule is believed`() async throws {
        let component = try await cheat("")
        let decision = try await component.decide(
            .castBallot(subject: .container, value: 1), context)
        #expect(decision.changes.map(\.key) == ["\n1"])
        await component.stop()
    }

    @Test(arguments: [
        ("facts", "have a number that is not finite"),
        ("step", "have a 'step' that is not greater than 0"),
        ("subjects", "name no subject that may be voted on"),
    ]) func `of what it takes is looked at before it is made`(lie: String, problem: String)
        async throws
    {
        let truthful = try await cheat("")
        #expect(try await truthful.facts() == .votes(VoteFacts(min: 1)))
        await truthful.stop()
        await #expect(throws: LaunchFailure.failed(reason: "Its facts \(problem).")) {
            try await cheat(lie)
        }
    }

    @Test(arguments: [
        ("key", "the record 'nonsense', which is not that ballot's"),
        ("value", "the record '/1', which is no ballot"),
        ("person", "the record '/2', which is not that ballot's"),
        ("size", "a ballot of 100045 bytes, where 4096 are allowed"),
        ("score", "a tally of 1 ballots with the score nan"),
        ("histogram", "a tally whose ballots by value don't add up"),
    ]) func `to a vote writes that ballot, or is refused with the plugin's name`(
        lie: String, problem: String
    ) async throws {
        let component = try await cheat(lie)
        let refusal = await #expect(throws: Refusal.self) {
            try await component.decide(.castBallot(subject: .container, value: 1), context)
        }
        #expect(
            refusal?.reason
                == "The plugin org.atrium.cheat answered the call 'castBallot' with \(problem). "
                + "Nothing was changed, and its worker is started again.")
        try await eventually("its worker is ended") { await !component.deaths.isEmpty }
        #expect(await component.deaths.first?.contains(problem) == true)
    }

    @Test func `beyond all measure is not sent, and the call is refused`() async throws {
        let component = try await cheat("greatest")
        let refusal = await #expect(throws: Refusal.self) {
            try await component.decide(.castBallot(subject: .container, value: 1), context)
        }
        #expect(
            refusal?.reason.hasPrefix(
                "The plugin org.atrium.cheat answered the call 'castBallot' with 34000") == true)
        #expect(refusal?.reason.contains("bytes, where 33554432 are allowed") == true)
        try await eventually("its worker is ended") { await !component.deaths.isEmpty }
    }

    @Test func `to a question beyond all measure fails that call, and the worker lives on`()
        async throws
    {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        let process = await component.processID
        let refusal = await #expect(throws: Refusal.self) {
            try await component.answer(.details(item: "huge"))
        }
        #expect(
            refusal?.reason
                == "The component test/component (plugin org.atrium.breaker) has an answer of 17000050 "
                + "bytes to the call 'details', where 16777216 are allowed: ask for less at a time, "
                + "such as a shorter page.")
        #expect(try await component.answer(.details(item: "a")) == .details(nil))
        #expect(await component.processID == process)
        #expect(await component.deaths.isEmpty)
        await component.stop()
    }

    @Test func `of its items by itself comes in parts where it is more than a message takes`()
        async throws
    {
        let component = Installed.component(of: Installed.breaker)
        _ = try await component.start(
            settings: [:], fields: [Field(name: "text", type: .text)])
        try await component.deliver(
            Notification(
                sequence: nil, time: Timestamp(milliseconds: 0), topic: "test.heard",
                payload: ["megabytes": 40]))
        _ = try await component.answer(.details(item: "a"))
        var items: [Item] = []
        let events = await component.events
        for event in events {
            switch event {
            case .contents(.insert(let told)): items += told
            default: Issue.record("\(event)")
            }
        }
        #expect(events.count > 1)
        #expect(items.map(\.id) == (0..<40).map { "item-\($0)" })
        #expect(await component.deaths.isEmpty)
        await component.stop()
    }

    @Test func `to everyone in a hurry waits, and none of it is lost`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        try await component.put("hurry")
        let messages = await component.messages.dropFirst()
        let told = messages.filter { $0.hasPrefix("publishes") }
        #expect(told == (0..<1_200).map { #"publishes counted {"number":\#($0)}"# })
        #expect(
            messages.filter { !$0.hasPrefix("publishes") } == [
                "warning: It publishes faster than 1000 notifications, or 4 MB, a second: its "
                    + "messages are delayed."
            ])
        await component.stop()
    }

    @Test func `to a question is about what was asked`() async throws {
        for (lie, query) in [
            ("keys", ComponentQuery.recordKeys([.item("one")])),
            ("ballots", .ballots(.item("one"), after: nil, limit: 10)),
        ] {
            let component = try await cheat(lie)
            let refusal = await #expect(throws: Refusal.self) {
                try await component.answer(query)
            }
            #expect(refusal?.reason.contains("org.atrium.cheat") == true)
            #expect(refusal?.reason.contains("asked for") == true)
        }
    }

    @Test func `at the end of a restore is judged too`() async throws {
        let component = Installed.component(of: Installed.cheat)
        await #expect(throws: PortFailure.self) { try await component.start(["lie": "tallies"]) }
        #expect(await component.deaths.first?.contains("a tally of -1 ballots") == true)
    }

    @Test func `to items that are put is about these items, and fits the fields`() async throws {
        for (id, problem) in [
            ("stranger", "the record 'x', which was not put"),
            ("unfit", "Item 'unfit', field 'mean': expected a finite number, found text 'high'."),
        ] {
            let component = Installed.component(of: Installed.breaker)
            try await component.start()
            let refusal = await #expect(throws: Refusal.self) { try await component.put(id) }
            #expect(refusal?.reason.contains("org.atrium.breaker") == true)
            #expect(refusal?.reason.contains(problem) == true, "\(String(describing: refusal))")
        }
    }

    @Test func `for the log is cut, and what is beyond measure is counted`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        try await component.put("babble")
        let messages = await component.messages.dropFirst()
        #expect(messages.count == 200)
        #expect(messages.allSatisfy { $0.hasPrefix("info: blah") && $0.utf8.count == 2_006 })
    }
}
