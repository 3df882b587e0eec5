import AtriumKit
import Logging
import NIOCore
import NIOPosix
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Starts of components that hang in `init`.
@Suite(.timeLimit(.minutes(3))) struct StartTests {
    /// A container whose list is in a worker.
    private static var apart: ContainerDefinition {
        .films.changed {
            $0.name = "apart"
            $0.components[1].isolation = .process
        }
    }

    /// A host with the film club, and with a container whose list hangs when it is started again.
    private func hanging(
        _ script: HeldLauncher.Script, patience: Duration
    ) async throws -> TestRegistry {
        let first = try await TestRegistry.start(
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
        try await first.apply(.films)
        try await first.apply(Self.apart)
        try await first.put(.film("alien"), in: "apart")
        try await first.stop()
        return try await host(script, patience: patience, in: first.directory, loads: false)
    }

    /// A host whose workers are made when the script says so.
    private func host(
        _ script: HeldLauncher.Script, patience: Duration = .milliseconds(20),
        in directory: TemporaryDirectory? = nil, loads: Bool = true
    ) async throws -> TestRegistry {
        var limits = HostLimits()
        limits.startPatience = patience
        return try await TestRegistry.start(
            in: directory, limits: limits, workers: HeldLauncher(script), loads: loads)
    }

    @Test func `a component that hangs keeps no other container from anything`() async throws {
        let script = HeldLauncher.Script()
        // For ever: nobody who is answered here was let go by a timer.
        let host = try await hanging(script, patience: .seconds(3_600))
        try await host.put(.film("heat"))
        #expect(try await host.list().items.map(\.id) == ["heat"])
        try await host.apply(.films.changed { $0.title = "Changed" })
        try await host.apply(.films.changed { $0.name = "new" })
        #expect(try await host.status(of: "apart").state == .loading)
        #expect(try await host.status(of: "films").state == .ready)
        #expect(script.asked == ["list"])
        await host.on { _ in script.release() }
        try await host.end()
    }

    @Test func `calls wait for their own container's components, and are answered in order`()
        async throws
    {
        let script = HeldLauncher.Script()
        let host = try await hanging(script, patience: .seconds(3_600))
        let order = Mutex<[String]>([])
        let replies: [Result<String, HostError>] = try await host.callAll(5) {
            registry, index, reply in
            let noted: @Sendable (String) -> Void = { name in
                order.withLock { $0.append(name) }
                reply(.success(name))
            }
            let subject = SubjectAddress(container: "apart", item: "alien")
            switch index {
            case 0:
                registry.put(
                    "apart", component: nil, [ItemDraft(item: .film("heat"))], by: .ann
                ) { _ in noted("put") }
            case 1: registry.cast(subject, value: 4, by: .ann) { _ in noted("cast") }
            case 2:
                #expect(registry.tally(subject) == nil)
                registry.tally(subject, actor: nil) { noted("tally \((try? $0.get()) != nil)") }
            case 3:
                registry.list("apart", ListRequest()) {
                    noted("list \((try? $0.get().items.count) ?? -1)")
                }
            default:
                #expect(order.withLock { $0 } == [], "nobody is answered yet")
                script.release()
                reply(.success("released"))
            }
        }
        #expect(replies.allSatisfy { (try? $0.get()) != nil })
        #expect(order.withLock { Set($0) } == ["put", "cast", "tally true", "list 1"])
        #expect(try await host.list("apart").items.count == 2)
        #expect(try await host.tally(of: "alien", in: "apart").tally.tally.count == 1)
        try await host.end()
    }

    @Test func `calls are refused once the start shows no progress, and answered once it does`()
        async throws
    {
        let script = HeldLauncher.Script()
        let host = try await hanging(script, patience: .milliseconds(20))
        for item in ["alien", nil] {
            let refused = await #expect(throws: HostError.self) {
                if let item {
                    _ = try await host.tally(of: item, in: "apart")
                } else {
                    _ = try await host.list("apart")
                }
            }
            let absence = try #require(refused?.absence)
            #expect(absence.component == "list")
            #expect(
                absence.details.contains("org.atrium.catalog has not answered for 0.02 seconds"))
            #expect(absence.details.contains("atriumctl detach apart list"))
            #expect(
                refused?.plainSentence
                    == "It is being started, which takes longer than usual: try again later.")
        }
        #expect(try await host.tally(in: "apart").tally.tally == Tally(), "its stars are there")
        let status = try await host.status(of: "apart")
        #expect(status.state == .degraded)
        #expect(status.reason?.hasPrefix("the component list does not start: ") == true)
        #expect(status.components[1].state == .starting)
        let problems = await host.on { $0.status(hasDetails: true).problems }
        #expect(problems.contains { $0.hasPrefix("The component apart/list does not start: ") })

        await host.on { _ in script.release() }
        try await until { try await host.status(of: "apart").state == .ready }
        #expect(try await host.list("apart").items.map(\.id) == ["alien"])
        #expect(await host.on { $0.status(hasDetails: true).problems } == [])
        try await host.end()
    }

    @Test func `a screen of another process waits for its container, and goes on`() async throws {
        let first = try await TestRegistry.start(
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
        try await first.apply(Self.apart)
        try await first.put(.film("alien"), in: "apart")
        let client = try await ScreenClient(first, ScreenRequest(container: "apart"))
        let id = client.id
        try await client.catchUp()
        let kept = await first.on { $0.keptScreens.all { _ in 1 } }
        try await first.stop()

        let script = HeldLauncher.Script()
        let host = try await TestRegistry.start(
            in: first.directory, workers: HeldLauncher(script), loads: false)
        let opened: [Result<ScreenReader?, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            guard index == 0 else {
                #expect(
                    registry.keptScreens.all { _ in 2 } == kept, "as it was, for a next process")
                script.release()
                return reply(.success(nil))
            }
            registry.keptScreens.restore(kept, digest: { _ in 1 })
            let request = ScreenRequest(
                container: "apart", resume: .init(screen: id, revision: kept[0].revision))
            registry.openScreen(request, by: .ann, isQuiet: true, wake: {}) { result in
                reply(result.map(Optional.some))
            }
        }
        let reader = try #require(try opened[0].get())
        #expect(reader.screen == id)
        #expect(
            try await host.on { $0.screens.pull(reader) }.get() == nil, "it shows what it showed")
        try await host.end()
    }

    @Test func `a new component that hangs is not waited for, and is taken in once it is there`()
        async throws
    {
        let script = HeldLauncher.Script()
        let host = try await self.host(script)
        let made = try await host.apply(Self.apart)
        #expect(
            made.results.first?.changes.contains(
                "component list: not there yet, its plugin does not answer") == true)
        await #expect(throws: HostError.self) { try await host.put(.film("alien"), in: "apart") }
        #expect(try await host.tally(in: "apart").tally.tally == Tally(), "its stars are there")
        #expect(try await host.status(of: "apart").state == .degraded)

        await host.on { _ in script.release() }
        try await until { try await host.status(of: "apart").state == .ready }
        try await host.put(.film("alien"), in: "apart")
        try await host.stop()
        let again = try await TestRegistry.start(in: host.directory, workers: HeldLauncher(script))
        #expect(try await again.list("apart").items.map(\.id) == ["alien"])
        try await again.end()
    }

    @Test func `a component that hangs does not replace one that works`() async throws {
        let script = HeldLauncher.Script(isHeld: false)
        let host = try await self.host(script)
        try await host.apply(.films)
        try await host.put(.film("alien"))
        script.hold()
        let apart = ContainerDefinition.films.changed { $0.components[1].isolation = .process }
        for dryRun in [true, false] {
            let refused = await #expect(throws: HostError.self) {
                try await host.apply(apart, dryRun: dryRun)
            }
            #expect(refused?.absence?.component == "list", "\(String(describing: refused))")
        }
        try await host.put(.film("heat"))
        #expect(try await host.list().items.count == 2)
        await host.on { _ in script.release() }
        try await host.end()
    }

    @Test func `components of one container are made beside each other`() async throws {
        let script = HeldLauncher.Script()
        let host = try await TestRegistry.start(workers: HeldLauncher(script))
        let replies: [Result<Int64, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            guard index == 0 else {
                #expect(script.asked == ["filters", "list", "stars", "talk"])
                script.release()
                return reply(.success(0))
            }
            let definition = ContainerDefinition.films.changed {
                for place in $0.components.indices { $0.components[place].isolation = .process }
            }
            registry.structure.apply([definition], dryRun: false, prune: false, by: .ann) {
                reply($0.map(\.sequence))
            }
        }
        #expect(replies.allSatisfy { (try? $0.get()) != nil })
        try await host.end()
    }

    @Test func `only so many are made at a time, and one without progress gives up its turn`() {
        let turns = StartTurns(atATime: 2)
        var taken: [StartTurns.Turn] = []
        for _ in 0..<4 { turns.acquire { taken.append($0) } }
        #expect(taken.count == 2)
        taken[1].end()
        taken[1].end()
        #expect(taken.count == 3, "a turn ends once")
        taken[0].end()
        taken[2].end()
        #expect(taken.count == 4)
    }

    @Test func `definitions of different containers are applied beside each other`() {
        let queue = StructureQueue()
        var done: [String: () -> Void] = [:]
        var begun: [String] = []
        func add(_ name: String, _ containers: Set<String>) {
            queue.add(containers) { finished in
                begun.append(name)
                done[name] = finished
            }
        }
        add("a", ["x"])
        add("b", ["y"])
        add("c", ["x", "y"])
        add("d", ["y", "z"])
        add("e", ["w"])
        #expect(begun == ["a", "b", "e"])
        done["b"]?()
        #expect(begun == ["a", "b", "e"], "the third waits for both, and the fourth for the third")
        done["a"]?()
        #expect(begun.last == "c")
        done["c"]?()
        #expect(begun.last == "d")
        done["d"]?()
        #expect(!queue.isIdle)
        done["e"]?()
        #expect(queue.isIdle)
    }

    @Test func `a call to a container that definitions may make waits for them`() async throws {
        let host = try await TestRegistry.start()
        let replies: [Result<String, HostError>] = try await host.callAll(3) {
            registry, index, reply in
            switch index {
            case 0:
                registry.expected.begin()
                registry.list("films", ListRequest()) { reply($0.map { _ in "films" }) }
            case 1:
                registry.list("none", ListRequest()) { reply($0.map { _ in "none" }) }
            default:
                registry.structure.apply([.films], dryRun: false, prune: false, by: .ann) { _ in
                    registry.expected.end()
                    reply(.success("applied"))
                }
            }
        }
        #expect(throws: Never.self) { try replies[0].get() }
        #expect(throws: HostError.containerNotFound("none")) { try replies[1].get() }
        try await host.end()
    }

    @Test(arguments: [true, false])
    func `what is published of a container that definitions may make waits for them`(
        durable: Bool
    ) async throws {
        let host = try await TestRegistry.start()
        let replies: [Result<Void, HostError>] = try await host.callAll(3) {
            registry, index, reply in
            switch index {
            case 0, 1:
                registry.expected.begin()
                let container = index == 0 ? "films" : "none"
                registry.publish(
                    "\(container).app.said", payload: Array("{}".utf8), durable: durable,
                    by: .ann
                ) { reply($0.map { _ in }) }
            default:
                registry.structure.apply([.films], dryRun: false, prune: false, by: .ann) { _ in
                    registry.expected.end()
                    reply(.success(()))
                }
            }
        }
        #expect(throws: Never.self) { try replies[0].get() }
        #expect(throws: HostError.containerNotFound("none")) { try replies[1].get() }
        #expect(try host.topics().contains("films.app.said") == durable)
        try await host.end()
    }

    @Test func `what hangs or crashes in the daemon's own process is named by the next one`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = directory.path + "/atrium.sqlite"
        let component = InitNote.Component(
            container: "films", component: "list", plugin: "org.test.bad")
        let note = InitNote(beside: store, logger: Logger(label: "test"))
        #expect(note.left == nil)
        note.during(component) {
            // As it stands while the component is being made: another process would find this.
            #expect(InitNote(beside: store, logger: Logger(label: "test")).left == component)
        }
        #expect(InitNote(beside: store, logger: Logger(label: "test")).left == nil)

        try directory.write(
            "atrium.making",
            #"{"container":"films","component":"list","plugin":"org.atrium.catalog"}"#)
        let log = CapturedLog()
        let host = try await TestRegistry.start(in: directory, logger: log.logger)
        #expect(log.lines.contains { $0.contains("ended while it called a component") })
        let problems = await host.on { $0.status(hasDetails: true).problems }
        #expect(problems.count == 1)
        #expect(
            problems.first?.contains("films/list: init of the plugin org.atrium.catalog") == true)
        try await host.apply(.films)
        #expect(await host.on { $0.status(hasDetails: true).problems } == [], "it is there now")
        try await host.end()
    }
}

extension TestRegistry {
    fileprivate func tally(
        of item: String? = nil, in container: String
    ) async throws -> TallyResult {
        try await call {
            $0.tally(SubjectAddress(container: container, item: item), actor: nil, $1)
        }
    }
}
