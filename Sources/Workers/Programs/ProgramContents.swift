internal import AtriumKit
internal import Dispatch
internal import ItemReading
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// A contents component whose items a plugin's program lists; the worker hosts it.
///
/// The items are kept here. The program lists them, or what changed, on a thread, so that no other call waits for it.
final class ProgramContents: ContentListing, ProgramComponent {
    weak var delegate: (any ContentListingDelegate)?
    private(set) var isLoading = true
    let readOnlyReason: String? = "Its items come from a plugin's program."

    private let context: ComponentContext
    private let program: ListeningProgram
    private var known: [String: AtriumKit.Item] = [:]
    private var isListening = false
    /// The timer that ends the pause before the next call.
    private var pause: Wakeup?
    /// Whether the program has to be sent the settings before the next call.
    private var hasOtherSettings = false

    static func greet(_ program: Program) throws -> Program.Greeting {
        let reply = try program.ask(
            Contents.Hello.self, .init(protocols: [Program.version]), for: Self.self)
        return try .init(reply.protocol, reply.settings, reply.defaults)
    }

    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError? {
        error.as(Contents.SettingInvalid.self).map { SettingError($0.setting, $0.reason) }
    }

    static var settings: [AtriumKit.Setting] { Program.current?.settings ?? [] }

    init(context: ComponentContext) throws {
        let program = try Program.started()
        do {
            let reply = try program.ask(
                Contents.Start.self,
                .init(
                    container: context.container, component: context.component,
                    settings: JSONObject(context.settings),
                    fields: context.fields.map(PluginInterfaces.Field.init)), for: Self.self)
            try Program.check(listen: reply.listen)
            self.program = ListeningProgram(program, every: reply.listen)
        } catch let failure as ProgramFailure {
            throw program.launchFailure(failure)
        }
        self.context = context
    }

    var items: some Sequence<AtriumKit.Item> { known.values }

    func apply(_ change: Change) {}

    func put(
        _ items: [AtriumKit.Item], _ command: CommandContext
    ) throws(Refusal) -> ContentDecision {
        throw Refusal(readOnlyReason ?? "")
    }

    func remove(_ ids: [String], _ command: CommandContext) throws(Refusal) -> [Change] {
        throw Refusal(readOnlyReason ?? "")
    }

    func didAttach() { listen() }

    func didDetach() { program.stop() }

    func canTake(_ settings: Settings) -> Bool {
        program.canTake(settings, inPlaceOf: context.settings)
    }

    /// Sends the settings, and listens; behind a call that is under way, since no other one waits for that.
    func settingsDidChange(from before: Settings) {
        hasOtherSettings = true
        pause?.cancel()
        if !isListening { listen() }
    }

    // MARK: Listening

    private func listen() {
        isListening = true
        let settings = hasOtherSettings ? JSONObject(context.settings) : nil
        hasOtherSettings = false
        context.background { [program, known, isLoading] in
            await program.listen(known, isFirst: isLoading, settings)
        } then: { [weak self] result in
            guard let self else { return }
            isListening = false
            guard case .success(let heard) = result else { return }
            apply(heard)
            if hasOtherSettings { return listen() }
            guard let interval = heard.interval else { return }
            pause = try? context.after(.seconds(interval)) { [weak self] in self?.listen() }
        }
    }

    private func apply(_ heard: ListeningProgram.Heard) {
        context.report(problem: heard.problem)
        guard let difference = heard.difference else { return }
        let before = known
        known = difference.items
        isLoading = false
        difference.report(delegate, of: self)
        context.freeInBackground(before)
    }
}

/// The program of a contents component, once it is started: it is called on a thread of its own.
///
/// Sendable because all calls are made on `queue`, where its variables are used, too; ``canTake(_:inPlaceOf:)`` reads
/// what was set before.
private final class ListeningProgram: @unchecked Sendable {
    /// The result of a call.
    struct Heard: Sendable {
        /// The difference from the items before; nil: there is none.
        var difference: ItemDifference?
        var problem: String?
        /// The seconds after which the next call is to be made; nil: never.
        var interval: Int?
    }

    /// The time that a call of `Listen` may take.
    private static let deadline = Duration.seconds(60)
    /// The most items that a program may list.
    private static let most = 2_000_000

    private let program: Program
    private let queue = DispatchQueue(label: "atrium.program")
    private var interval: Int?
    private var spellings = ItemSpellings()

    init(_ program: Program, every interval: Int?) {
        self.program = program
        self.interval = interval
    }

    /// Whether only values of live settings differ.
    func canTake(_ settings: Settings, inPlaceOf before: Settings) -> Bool {
        program.canTake(settings, inPlaceOf: before)
    }

    /// Calls `Listen` until the program replies that there is no more, after `ChangeSettings` if there are new
    /// settings.
    func listen(
        _ known: [String: AtriumKit.Item], isFirst: Bool, _ settings: JSONObject?
    ) async -> Heard {
        await withCheckedContinuation { continuation in
            queue.async {
                if let settings { self.change(settings) }
                var heard = self.heard(known, isFirst)
                heard.interval = self.interval
                continuation.resume(returning: heard)
            }
        }
    }

    private func change(_ settings: JSONObject) {
        let reply = program.sure(Contents.ChangeSettings.self, .init(settings: settings))
        do throws(ProgramFailure) {
            try Program.check(listen: reply.listen)
            interval = reply.listen
        } catch {
            program.end(error.reason)
        }
    }

    /// Calls `Stop`, unless another call is under way for longer.
    ///
    /// It waits for that, since the process ends when the component is detached.
    func stop() {
        let stopped = DispatchSemaphore(value: 0)
        queue.async {
            self.program.stop(Contents.Stop.self, .init())
            stopped.signal()
        }
        _ = stopped.wait(timeout: .now() + .milliseconds(1_500))
    }

    private func heard(_ known: [String: AtriumKit.Item], _ isFirst: Bool) -> Heard {
        var listing = ProgramListing(known, spellings)
        while true {
            let reply = program.sure(Contents.Listen.self, .init(), within: Self.deadline)
            // Some are listed twice, and some removed: more would be a list without an end.
            listing.count += (reply.items?.count ?? 0) + (reply.removed?.count ?? 0)
            guard listing.count <= 2 * Self.most else {
                program.end(
                    "answered 'Listen' with more than \(2 * Self.most) items and ids, and still there is more"
                )
            }
            for item in reply.items ?? [] { listing.add(item, fields(of: item)) }
            for id in reply.removed ?? [] { listing.remove(id) }
            guard listing.items.count <= Self.most else {
                program.end(
                    "answered 'Listen' with more than \(Self.most) items, which is the limit")
            }
            if let problem = reply.problem, !problem.isEmpty {
                return Heard(problem: String(problem.prefix(1_000)))
            }
            if reply.more == true {
                guard reply.items?.isEmpty == false || reply.removed?.isEmpty == false else {
                    program.end("answered 'Listen' with an empty page that announces more")
                }
                continue
            }
            if reply.all == true { listing.dropOthers() }
            spellings = listing.spellings
            return Heard(
                difference: ItemDifference(listing.items, from: known, isFirst: isFirst),
                problem: spellings.problem)
        }
    }

    private func fields(of item: PluginInterfaces.Item) -> [String: Value] {
        do throws(ProgramFailure) {
            return try item.fields.values(
                "answered 'Listen' with the item '\(item.id.prefix(200))' and fields")
        } catch {
            program.end(error.reason)
        }
    }
}

/// The items as replies to `Listen` change them, all but the last of which announce more.
private struct ProgramListing {
    private(set) var items: [String: AtriumKit.Item]
    private(set) var spellings: ItemSpellings
    /// The number of items and removed ids.
    var count = 0
    private var listed: Set<String> = []
    /// The spellings of these replies alone.
    private var present = ItemSpellings()

    init(_ known: [String: AtriumKit.Item], _ spellings: ItemSpellings) {
        items = known
        self.spellings = spellings
    }

    mutating func add(_ item: PluginInterfaces.Item, _ fields: [String: Value]) {
        let id = spellings.list(item.id)
        _ = present.list(item.id)
        listed.insert(id)
        items[id] = AtriumKit.Item(
            id: id, fields: fields, parent: item.parent.map(ItemSpellings.normal))
    }

    mutating func remove(_ spelling: String) {
        _ = present.remove(spelling)
        if let id = spellings.remove(spelling) { items[id] = nil }
    }

    /// Removes all that these replies did not list.
    mutating func dropOthers() {
        items = items.filter { listed.contains($0.key) }
        spellings = present
    }
}
