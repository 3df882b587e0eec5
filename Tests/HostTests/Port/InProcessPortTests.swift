import AtriumKit
import Glibc
import NIOCore
import NIOPosix
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3)), .serialized) struct InProcessPortTests {
    /// One for all tests: what `Talker` notes is guarded by it.
    private static let oneLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let loop = Self.oneLoop

    private func onLoop<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await loop.submit(body).get()
    }

    @Test func `a component is made, restored and asked, each answer during the call`() async throws
    {
        try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            #expect(port.kind == .contents)
            var told: [ComponentEvent] = []
            port.load([Item(id: "old", fields: [:]).record]) {}
            port.reportState(anew: true) { told += (try? $0.get().events) ?? [] }
            #expect(
                told == [.contents(.replaceAll), .contents(.insert([.old]))],
                "told during the call")
            port.notify(.willAttach)
            port.notify(.didAttach)
            var decisions = 0
            port.decide(.putItems([Item(id: "new", fields: [:])]), context) { result in
                decisions += 1
                let decision = try? result.get()
                #expect(decision?.events == [.contents(.insert([Item(id: "new", fields: [:])]))])
            }
            port.decide(.putItems([Item(id: "refused", fields: [:])]), context) { result in
                decisions += 1
                #expect(result == .failure(.refused(Refusal(.refused, "no such thing"))))
            }
            #expect(decisions == 2)
        }
    }

    @Test func `a setting that makes no sense is refused as that`() async throws {
        try await onLoop { [loop] in
            let owner = Owner()
            let failure = #expect(throws: LaunchFailure.self) {
                try owner.launch(loop, settings: ["unknown": 1])
            }
            guard case .setting(let error) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(error.setting == "unknown")
            let missing = Plugin(
                id: "org.test.gone", version: "1.0.0", kind: .votes, title: "Gone",
                library: "/nowhere/libGone.so")
            let reason = #expect(throws: LaunchFailure.self) {
                try owner.launch(loop, plugin: missing)
            }
            #expect(reason?.description.contains("/nowhere/libGone.so") == true)
        }
    }

    @Test func `what it says is passed on after it has returned, in order, and before the answer`()
        async throws
    {
        try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            #expect(owner.told == ["observes films.>", "observes *.app.hello"], "from its init")
            owner.told = []
            owner.onWord = { #expect(Talker.depth == 0, "the owner may call the component again") }
            port.decide(.putItems([Item(id: "talk", fields: [:])]), context) { _ in
                owner.told.append("answer")
            }
            #expect(owner.told == ["logs info talking", "publishes talk.a", "answer"])
        }
    }

    @Test func `a decision that breaks a rule is refused, and the component is of no more use`()
        async throws
    {
        try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            owner.told = []
            var failures: [PortFailure?] = []
            for id in ["stranger", "new"] {
                port.decide(.putItems([Item(id: id, fields: [:])]), context) {
                    failures.append($0.failure)
                }
            }
            let reason =
                "The plugin org.test.talker answered with the record 'x', which was not put. Nothing "
                + "was changed, and its component is restarted."
            #expect(failures == [.mistrusted(reason: reason)], "the next is not answered")
            #expect(owner.told == ["died \(reason)"])
        }
    }

    @Test func `a component whose decision breaks a rule is made anew by its container`()
        async throws
    {
        let host = try await TestRegistry.start(
            plugins: .builtIn + [.inProcess("org.test.talker", .contents, Talker.self)])
        try await host.apply(.films.changed { $0.components[1].plugin = "org.test.talker" })
        try await host.put(.film("alien"))
        let refused = await #expect(throws: HostError.self) {
            try await host.put(.film("stranger"))
        }
        guard case .componentFailed(let failure) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(
            failure.details.contains(
                "org.test.talker answered with the record 'x', which was not put"))
        #expect(
            failure.reason
                == "It answered wrongly, so nothing was changed, and it is being started again: try again."
        )
        try await host.put(.film("heat"))
        #expect(try await host.list().items.map(\.id).sorted() == ["alien", "heat"])
        try await host.end()
    }

    @Test func `names and patterns that make no sense are logged and dropped`() async throws {
        try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            owner.told = []
            port.decide(.putItems([Item(id: "nonsense", fields: [:])]), context) { _ in }
            #expect(owner.told.count == 2)
            #expect(owner.told.allSatisfy { $0.hasPrefix("logs warning") }, "\(owner.told)")
        }
    }

    @Test func `a notification reaches every handler whose pattern matches`() async throws {
        try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            port.reportState(anew: true) { _ in }
            owner.told = []
            let notification = Notification(
                sequence: 1, time: Timestamp(milliseconds: 0), topic: "films.app.hello",
                payload: [:])
            port.deliver(notification)
            #expect(
                owner.told == ["logs info first", "logs info second", "raised 1"])
            port.close()
            port.deliver(notification)
            #expect(owner.told.count == 3)
        }
    }

    @Test func `background work comes back to the loop and what follows is passed on`() async throws
    {
        let owner = try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            port.reportState(anew: true) { _ in }
            owner.told = []
            port.decide(.putItems([Item(id: "work", fields: [:])]), context) { _ in }
            #expect(owner.told.isEmpty)
            return NIOLoopBound(owner, eventLoop: loop)
        }
        try await until { try await onLoop { !owner.value.told.isEmpty } }
        try await onLoop { #expect(owner.value.told == ["publishes worked", "raised 1"]) }
    }

    @Test func `background work that the component cancels ends, and its end is not reported`()
        async throws
    {
        let owner = try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            port.reportState(anew: true) { _ in }
            owner.told = []
            port.decide(.putItems([Item(id: "called off", fields: [:])]), context) { _ in }
            return NIOLoopBound(owner, eventLoop: loop)
        }
        try await Talker.calledOff.wait()
        try await onLoop {
            owner.value.port?.decide(.putItems([Item(id: "work", fields: [:])]), context) { _ in }
        }
        try await until { try await onLoop { !owner.value.told.isEmpty } }
        try await onLoop { #expect(owner.value.told == ["publishes worked", "raised 1"]) }
    }

    @Test func `after it is closed background work is cancelled and its end is not reported`()
        async throws
    {
        let (owner, weakly) = try await onLoop { [loop] in
            let owner = Owner()
            let port = try owner.launch(loop)
            port.decide(.putItems([Item(id: "endless", fields: [:])]), context) { _ in }
            owner.told = []
            port.close()
            owner.port = nil
            return (
                NIOLoopBound(owner, eventLoop: loop),
                NIOLoopBound(Weakly(Talker.last), eventLoop: loop)
            )
        }
        try await Talker.cancelled.wait()
        try await onLoop { #expect(owner.value.told.isEmpty) }
        try await onLoop { #expect(weakly.value.object == nil, "nothing keeps the component") }
    }

    @Test(arguments: [true, false])
    func `what came with the daemon is freed on a thread, what others made on the loop`(
        isShipped: Bool
    ) async throws {
        try await onLoop { [loop] in
            var plugin = Plugin(
                id: "org.test.talker", version: "1.0.0", kind: .contents, title: "Talker",
                library: "", component: Talker.self)
            plugin.isShipped = isShipped
            let owner = Owner()
            let port = try owner.launch(loop, plugin: plugin)
            Talker.freedOn.withLock { $0 = nil }
            port.close()
        }
        try await until { Talker.freedOn.withLock { $0 } != nil }
        let place = try #require(Talker.freedOn.withLock { $0 })
        let ofLoop = try await onLoop { pthread_self() }
        #expect((place == ofLoop) == !isShipped)
    }
}

private let context = CommandContext(
    actor: ActorID(1), time: Timestamp(milliseconds: 0), freshID: "fresh")

extension Item {
    fileprivate static let old = Item(id: "old", fields: [:])
}

private struct Weakly {
    weak var object: Talker?
    init(_ object: Talker?) { self.object = object }
}

/// Opens once, for whoever waits.
private final class Gate: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() async throws { try await until { isOpen.load(ordering: .acquiring) } }
}

/// Writes down what it is told.
private final class Owner: PortOwner {
    var told: [String] = []
    var onWord: () -> Void = {}
    var port: (any ComponentPort)?

    func launch(
        _ loop: any EventLoop, settings: [String: Value] = [:], plugin: Plugin? = nil
    ) throws -> any ComponentPort {
        let plugin =
            plugin
            ?? Plugin(
                id: "org.test.talker", version: "1.0.0", kind: .contents, title: "Talker",
                library: "", component: Talker.self)
        var outcome: Result<any ComponentPort, LaunchFailure>?
        InProcessLauncher(loop: loop).launch(
            LaunchRequest(
                plugin: plugin, container: "films", component: "list", settings: settings,
                fields: []),
            owner: self
        ) { outcome = $0 }
        let port = try #require(outcome, "told during the call").get()
        self.port = port
        return port
    }

    private func write(_ word: String) {
        onWord()
        told.append(word)
    }

    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        switch message {
        case .raised(let events): write("raised \(events.count)")
        case .publishes(let name, _): write("publishes \(name)")
        case .observes(let pattern): write("observes \(pattern)")
        case .logs(let level, let message): write("logs \(level) \(message)")
        case .reports(let problem): write("reports \(problem ?? "nothing")")
        case .keeps(let bytes): write("keeps \(bytes?.count ?? 0) bytes")
        case .answers(let number, _): write("answers \(number)")
        case .image(let number, let result): write("image \(number): \(result)")
        }
    }
    func port(_ port: any ComponentPort, died death: PortDeath) { write("died \(death.reason)") }
    func port(_ port: any ComponentPort, itemWith id: String) -> Item? { nil }
}

/// A component that says and does what the id of an item tells it.
private final class Talker: ContentListing {
    /// How many calls into a component are on the stack.
    nonisolated(unsafe) static var depth = 0  // guarded by the one loop of these tests
    nonisolated(unsafe) static weak var last: Talker?  // guarded by the one loop of these tests
    static let cancelled = Gate()
    static let calledOff = Gate()
    /// The thread that freed one last.
    static let freedOn = Mutex<pthread_t?>(nil)

    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    private let context: ComponentContext

    init(context: ComponentContext) throws {
        self.context = context
        Self.last = self
        context.observe("films.>") { [unowned self] _ in
            context.logger.info("first")
            delegate?.contentListing(self, didChange: .remove([]))
        }
        context.observe("*.app.hello") { _ in context.logger.info("second") }
        context.observe("films.>") { _ in }
    }

    deinit { Self.freedOn.withLock { $0 = pthread_self() } }

    func apply(_ change: Change) {
        guard let value = change.value, let item = Item(key: change.key, value: value) else {
            return
        }
        items.append(item)
        delegate?.contentListing(self, didChange: .insert([item]))
    }

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        Self.depth += 1
        defer { Self.depth -= 1 }
        let id = items.first?.id ?? ""
        switch id {
        case "refused": throw Refusal(.refused, "no such thing")
        case "stranger": return ContentDecision(changes: [Item(id: "x", fields: [:]).record])
        case "talk":
            self.context.logger.info("talking")
            self.context.publish("talk.a")
        case "nonsense":
            self.context.publish("No!")
            self.context.observe("a..b") { _ in }
        case "work":
            self.context.background {
                await Task.yield()
                let place = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
                #expect(place == QuietExecutor.shared.asUnownedTaskExecutor())
                return 42
            } then: { [unowned self] result in
                #expect((try? result.get()) == 42)
                self.context.publish("worked")
                delegate?.contentListing(self, didChange: .remove(["x"]))
            }
        case "endless":
            self.context.background {
                while !Task.isCancelled { await Task.yield() }
                Self.cancelled.open()
            } then: { _ in
                self.context.publish("too-late")
            }
        case "called off":
            let work = self.context.background {
                while !Task.isCancelled { await Task.yield() }
                Self.calledOff.open()
            } then: { _ in
                self.context.publish("too-late")
            }
            #expect(work.isActive)
            work.cancel()
            work.cancel()
            #expect(!work.isActive)
        default: break
        }
        return ContentDecision(changes: items.map(\.record), inserted: items.map(\.id))
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
