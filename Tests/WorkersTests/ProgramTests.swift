import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
import Host
import Logging
import NIOCore
import PluginLoader
import TestSupport
import Testing

@testable import Workers

/// Plugins that are programs, in real workers: `Tests/Fixtures/Programs/likes`, whose settings say where it breaks.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the programs are in Python"))
struct `A plugin that is a program` {
    /// The program under a path that no other test uses, by which its processes are known.
    private let folder: TemporaryDirectory
    private let likes: Plugin

    init() throws {
        folder = try TemporaryDirectory()
        let source = Checkout.root + "/Tests/Fixtures/Programs/likes/likes.py"
        let path = folder.path + "/likes.py"
        try FileManager.default.copyItem(atPath: source, toPath: path)
        likes = Self.plugin(path)
    }

    private static func plugin(_ path: String) -> Plugin {
        Plugin(
            id: "org.test.likes", version: "1.0.0", kind: .votes, title: "Likes",
            code: .program(path), isolation: .process)
    }

    /// The processes that run the program.
    private func programs() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
            guard let process = pid_t(name),
                let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
            else { return nil }
            let words = String(decoding: line, as: UTF8.self).split(separator: "\0")
            return words.last.map(String.init) == likes.path && words.count == 2 ? process : nil
        }
    }

    private func checkNothingIsLeft() async throws {
        try await eventually("no program is left") { try programs().isEmpty }
    }

    @Test func `lists its settings without a component, within a limited time`() async throws {
        let component = Installed.component(of: likes)
        let listed = try await component.describe(likes, within: .seconds(20)).get()
        #expect(listed.map(\.name) == ["breaks", "at", "most", "listen"])
        #expect(listed[2].defaultValue == "5" && listed[2].type == "number from 1 to 5")
        try await checkNothingIsLeft()

        try folder.write("likes.py", "#!/usr/bin/python3\nimport time\ntime.sleep(600)\n")
        let problem = await component.describe(likes, within: .milliseconds(300))
        #expect(throws: LaunchFailure.self) { try problem.get() }
        #expect("\(problem)".contains("did not list its settings within 0.3 seconds"), "\(problem)")
        try await checkNothingIsLeft()
        try folder.write("likes.py", "#!/usr/bin/python3\nprint('no Varlink')\n")
        let other = await component.describe(likes, within: .seconds(20))
        #expect("\(other)".contains("ended with status 0"), "\(other)")
    }

    @Test func `votes, and its scores are what is shown`() async throws {
        let component = Installed.component(of: likes)
        #expect(try await component.start(settings: [:], fields: []) == .votes)
        #expect(try programs().count == 1)
        #expect(
            try await component.facts()
                == .votes(VoteFacts(min: 1, max: 5, step: 1, subjects: [.items, .container])))
        let first = try await component.cast(2, on: .item("a"), by: 1)
        #expect(
            first.answer
                == .ballot(
                    tally: Tally(count: 1, score: 2, histogram: ["2": 1]), previous: nil, current: 2
                ))
        let second = try await component.cast(5, on: .item("a"), by: 2)
        let tally = Tally(count: 2, score: 7, histogram: ["2": 1, "5": 1])
        #expect(second.answer == .ballot(tally: tally, previous: nil, current: 5))
        #expect(second.events == [.tally(.item("a"), tally)])
        // The same vote again is none of the program's business.
        #expect(try await component.cast(5, on: .item("a"), by: 2).changes.isEmpty)
        let changed = try await component.cast(1, on: .item("a"), by: 2)
        #expect(
            changed.answer
                == .ballot(
                    tally: Tally(count: 2, score: 3, histogram: ["2": 1, "1": 1]), previous: 5,
                    current: 1))
        let back = try await component.retract(from: .item("a"), by: 1)
        #expect(
            back.answer
                == .ballot(
                    tally: Tally(count: 1, score: 1, histogram: ["1": 1]), previous: 2, current: nil
                ))
        await component.stop()
        try await checkNothingIsLeft()
        #expect(await component.deaths.isEmpty)
    }

    @Test func `refuses what it likes, and its worker what is not on its scale`() async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(settings: ["most": 3], fields: [])
        let closed = await #expect(throws: Refusal.self) {
            try await component.cast(1, on: .item("closed"), by: 1)
        }
        #expect(closed == Refusal(.refused, "Votes on this item are closed.", retryAfter: 60))
        for (value, word) in [(4.0, "4 is not"), (1.5, "1.5 is not")] {
            let refusal = await #expect(throws: Refusal.self) {
                try await component.cast(value, on: .item("a"), by: 1)
            }
            #expect(refusal?.reason.contains("from 1 to 3 in steps of 1") == true)
            #expect(refusal?.reason.contains(word) == true, "\(String(describing: refusal))")
        }
        await component.stop()
        try await checkNothingIsLeft()
    }

    @Test func `refuses votes also when it has no rules for taking them back`() async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(
            settings: ["breaks": "lacks it", "at": "Retract"], fields: [])
        _ = try await component.cast(2, on: .item("a"), by: 1)
        _ = try await component.retract(from: .item("a"), by: 1)
        await #expect(throws: Refusal.self) {
            try await component.cast(1, on: .item("closed"), by: 1)
        }
        await component.stop()
        try await checkNothingIsLeft()
    }

    @Test func `is restored from its ballots, in slices`() async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(settings: [:], fields: [])
        let count = 2 * 500 + 1
        let ballots = (1...count).map { number in
            Ballot(
                subject: .item("item-\(number % 700)"), actor: ActorID(Int64(number)), value: 3,
                cast: Timestamp(milliseconds: 5)
            ).record
        }
        let events = try await component.restore(ballots + ballots.prefix(10))
        var tallies: [Subject: Tally] = [:]
        for case .tally(let subject, let tally) in events { tallies[subject] = tally }
        #expect(tallies.count == 700)
        #expect(tallies[.item("item-1")] == Tally(count: 2, score: 6, histogram: ["3": 2]))
        #expect(tallies[.item("item-699")] == Tally(count: 1, score: 3, histogram: ["3": 1]))
        let page = try await component.answer(.ballots(.item("item-1"), after: nil, limit: 10))
        guard case .ballots(let found) = page else { return }
        #expect(found.map(\.actor) == [ActorID(1), ActorID(701)])
        await component.stop()
        try await checkNothingIsLeft()
    }

    @Test func `is listened to, where it asked for that`() async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(settings: ["listen": 1], fields: [])
        _ = try await component.cast(2, on: .item("a"), by: 1)
        let told = ComponentEvent.tally(
            .item("a"), Tally(count: 1, score: 1000, histogram: ["2": 1]))
        try await eventually("the new score is told") { await component.events == [told] }
        await component.stop()
        try await checkNothingIsLeft()
    }

    @Test(arguments: ["dies", "babbles", "answers twice", "answers at length"])
    func `ends its worker where it breaks the protocol, and both are gone`(
        how: String
    ) async throws {
        let log = CapturedLog()
        let component = Installed.component(of: likes, logger: log.logger)
        _ = try await component.start(
            settings: ["breaks": .text(how), "at": "Cast"], fields: [])
        let vote = { try await component.cast(1, on: .item("a"), by: 1) }
        await #expect(throws: PortFailure.self) {
            _ = try await vote()
            // The second answer belongs to no call.
            if how == "answers twice" { _ = try await component.cast(2, on: .item("b"), by: 1) }
        }
        try await checkNothingIsLeft()
        #expect(await component.deaths.count == 1)
        try await eventually("it is said which plugin it was, and what it did") {
            log.printed.contains {
                $0.contains("\(likes.path) of the plugin org.test.likes")
                    && $0.contains(how == "dies" ? "ended with status 3" : "the service sent")
            }
        }
    }

    @Test func `that hangs ends with its worker, within the deadline`() async throws {
        var limits = WorkerLimits()
        limits.call = .seconds(1)
        let component = Installed.component(of: likes, limits: limits)
        _ = try await component.start(settings: ["breaks": "hangs", "at": "Cast"], fields: [])
        let begin = ContinuousClock.now
        await #expect(throws: PortFailure.self) {
            _ = try await component.cast(1, on: .item("a"), by: 1)
        }
        #expect(ContinuousClock.now - begin < .seconds(10))
        try await checkNothingIsLeft()
    }

    @Test(arguments: ["answers something else", "fails"])
    func `that decides by nonsense has the vote refused in its name, and goes on`(
        how: String
    ) async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(
            settings: ["breaks": .text(how), "at": "Retract"], fields: [])
        _ = try await component.cast(1, on: .item("a"), by: 1)
        let refusal = await #expect(throws: Refusal.self) {
            _ = try await component.retract(from: .item("a"), by: 1)
        }
        #expect(refusal?.reason.contains("of the plugin org.test.likes answered 'Retract'") == true)
        #expect(try await component.cast(2, on: .item("a"), by: 1).changes.count == 1)
        #expect(await component.deaths.isEmpty)
        await component.stop()
        try await checkNothingIsLeft()
    }

    @Test(
        arguments: ["answers infinity", "answers something else", "fails"], ["Apply", "Restored"])
    func `that counts nonsense ends its worker`(how: String, method: String) async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(
            settings: ["breaks": .text(how), "at": .text(method)], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.cast(1, on: .item("a"), by: 1)
            _ = try await component.restore([])
        }
        #expect(await component.deaths.count == 1)
        try await checkNothingIsLeft()
    }

    @Test func `says which setting it does not take`() async throws {
        let component = Installed.component(of: likes)
        for (settings, name) in [
            (["at": "settings"], "at"), (["breaks": "politely"], "breaks"), (["more": 1], "more"),
            (["most": 9], "most"),
        ] as [([String: Value], String)] {
            let failure = await #expect(throws: LaunchFailure.self) {
                _ = try await component.start(settings: settings, fields: [])
            }
            guard case .setting(let error) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(error.setting == name)
            if name == "most" {
                #expect(error.reason.hasPrefix("expected a number from 1 to 5"), "\(error)")
            }
        }
        try await checkNothingIsLeft()
    }

    @Test(arguments: [
        ("#!/usr/bin/nothing-like-that\n", "can't be started"),
        (
            "#!/usr/bin/python3\nraise SystemExit(7)\n",
            "ended with status 7 when it was asked 'Hello'"
        ),
        (
            "#!/usr/bin/python3\nopen(3, 'wb').write(b'{\"parameters\": {\"protocol\": 9}}\\0')\n",
            "version 9"
        ),
        (
            "#!/usr/bin/python3\nopen(3, 'wb').write(b'{\"parameters\": {\"protocol\": 1, \"settings\": "
                + "[{\"name\": \"a\", \"type\": \"integer\", \"least\": 0.2, \"most\": 0.8, "
                + "\"summary\": \"s\"}]}}\\0')\n",
            "declares 'a' from 0.2 to 0.8, where no whole number is"
        ),
    ])
    func `that can't be greeted is not started, in its name`(
        text: String, reason: String
    ) async throws {
        try Data(text.utf8).write(to: URL(filePath: likes.path))
        chmod(likes.path, 0o755)
        let component = Installed.component(of: likes)
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        guard case .failed(let found) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(found.contains("\(likes.path) of the plugin org.test.likes"))
        #expect(found.contains(reason), "\(found)")
        try await checkNothingIsLeft()
    }

    @Test func `that is killed when it is greeted may be tried again`() async throws {
        try Data("#!/usr/bin/python3\nimport os\nos.kill(os.getpid(), 9)\n".utf8)
            .write(to: URL(filePath: likes.path))
        chmod(likes.path, 0o755)
        let component = Installed.component(of: likes)
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        guard case .unavailable(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("was ended by SIGKILL"), "\(reason)")
        try await checkNothingIsLeft()
    }

    @Test func `that does not answer its greeting in time may be tried again`() async throws {
        try Data("#!/usr/bin/python3\nimport time\ntime.sleep(600)\n".utf8)
            .write(to: URL(filePath: likes.path))
        chmod(likes.path, 0o755)
        let component = Installed.component(of: likes)
        let failure = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        guard case .unavailable(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("failed when it was asked 'Hello'"), "\(reason)")
        try await checkNothingIsLeft()
    }

    @Test func `says why it ended, and its component's end has that`() async throws {
        let component = Installed.component(of: likes)
        _ = try await component.start(settings: ["breaks": "raises", "at": "Cast"], fields: [])
        await #expect(throws: PortFailure.self) {
            _ = try await component.cast(1, on: .item("a"), by: 1)
        }
        let reason = try #require(await component.deaths.first)
        #expect(reason.contains("and said: The program \(likes.path) of the plugin"), "\(reason)")
        try await checkNothingIsLeft()
    }

    @Test func `has as long for a call as the host lets it take`() {
        #expect(ProgramProcess.deadline(where: .seconds(5)) == .seconds(35))
        #expect(ProgramProcess.deadline(where: .seconds(60)) > .seconds(60))
    }

    @Test func `is walled in as its worker`() async throws {
        let secret = try TemporaryDirectory()
        let file = try secret.write("secret", "s")
        let text = """
            #!/usr/bin/python3
            import os, socket
            def attempt(what):
                try:
                    what()
                    return "succeeded"
                except OSError as error:
                    return "failed"
            print("read", attempt(lambda: open("\(file)").read()), flush=True)
            print("write", attempt(lambda: open("\(folder.path)/new", "w")), flush=True)
            print("connect", attempt(lambda: socket.socket(socket.AF_UNIX)), flush=True)
            found = [number for number in range(64) if attempt(lambda: os.fstat(number)) == "succeeded"]
            print("descriptors", found, flush=True)
            """
        try Data(text.utf8).write(to: URL(filePath: likes.path))
        let log = CapturedLog()
        let component = Installed.component(of: likes, logger: log.logger)
        _ = await #expect(throws: LaunchFailure.self) {
            _ = try await component.start(settings: [:], fields: [])
        }
        try await eventually("it has said what it could do") {
            log.printed.contains { $0.hasPrefix("descriptors") }
        }
        for line in ["read failed", "write failed", "connect failed", "descriptors [0, 1, 2, 3]"] {
            #expect(log.printed.contains(line), "\(log.printed)")
        }
        try await checkNothingIsLeft()
    }
}

extension CapturedLog {
    /// What workers printed.
    fileprivate var printed: [String] { events.compactMap { $0["text"] } }
}

extension WorkerComponent {
    /// Casts a ballot.
    func cast(_ value: Double, on subject: Subject, by actor: Int64) async throws -> Decision {
        try await decide(.castBallot(subject: subject, value: value), Self.context(of: actor))
    }

    /// Takes one back.
    func retract(from subject: Subject, by actor: Int64) async throws -> Decision {
        try await decide(.retractBallot(subject: subject), Self.context(of: actor))
    }

    private static func context(of actor: Int64) -> CommandContext {
        CommandContext(
            actor: ActorID(actor), time: Timestamp(milliseconds: 1), freshID: "fresh")
    }
}
