import AtriumKit
import Control
import Host
import LogMessages
import Logging
import NIOCore
import Store
import Synchronization
import Systemd
import Varlink

/// Reads configuration and definitions while the daemon runs: one reload after another.
actor Reloader {
    /// What a reload did.
    struct Outcome: Sendable {
        /// What was done, a line each.
        var changed: [String] = []
        /// What was not, a sentence each.
        var problems: [String] = []

        /// What was done, in a line.
        var done: String { changed.isEmpty ? "nothing" : changed.joined(separator: ", ") }
    }

    /// What a reload works on.
    struct Parts: Sendable {
        let registry: Registry
        let loop: any EventLoop
        let store: Store?
        let threshold: LogThreshold
        let access: AccessBook
        /// The sockets, whose groups have a role.
        let listener: Listener
    }

    /// The settings in force.
    private(set) var settings: DaemonSettings

    /// What is wrong while it is not known who has which role.
    private static let directorySilent =
        "the system's directory of users does not answer: everyone keeps the roles of before until it does"
    /// What is wrong while it is not known, since the start, who has which role.
    private static let directorySilentAtStart =
        "the system's directory of users does not answer: until it does, root and the daemon's own user are "
        + "admins, the socket's group are members, and nobody has a role by the settings"
    /// What is wrong while it is not known who is in which group at present.
    private static let directorySlow =
        "the system's directory of users has not said yet who is in which group: who has left one keeps the "
        + "role by it until it does"

    /// What is wrong with the files at present.
    nonisolated var problems: [String] { current.withLock { $0 } }

    private let source: DaemonSettings.Source
    private let parts: Parts
    private let logger: Logger
    private nonisolated let current = Mutex<[String]>([])
    private var roleProblems: [String] = []
    /// Called once it is known who has which role.
    private var afterRoles: (@Sendable () async -> Void)?
    private var knowsRoles = false
    /// How often it was asked who has which role: what is answered to an earlier question does not count.
    private var rolesAsked = 0
    private var definitionProblems: [String] = []
    /// Which file defines a container, as the files were last.
    private var origins: [String: String] = [:]
    private var server: VarlinkServer?
    private var last: Task<Outcome, Never>?
    private var isClosed = false
    /// Whether the definitions are being applied for the first time.
    private var isAtStart = false

    init(
        _ settings: DaemonSettings, from source: DaemonSettings.Source, parts: Parts,
        logger: Logger
    ) {
        self.settings = settings
        self.source = source
        self.parts = parts
        self.logger = logger
    }

    /// The server, once there is one, whose limits may change.
    func serve(with server: VarlinkServer) { self.server = server }

    /// Reads everything again, after the reloads that were asked for before.
    ///
    /// - Parameter signs: told when it begins and ends.
    /// - Returns: what was done; nil if the daemon is stopping.
    func reload(telling signs: LifeSigns) async -> Outcome? {
        guard !isClosed else { return nil }
        let task = Task(executorPreference: QuietExecutor.shared) { [self, last] in
            _ = await last?.value
            await signs.reloading()
            let outcome = await perform()
            await signs.reloaded()
            return outcome
        }
        last = task
        return await task.value
    }

    /// Asks at the start who has which role; as a reload, it waits for the system's directory two seconds at most.
    ///
    /// - Parameter table: makes the table of roles; may block.
    /// - Returns: whether it is known.
    func learnRoles(_ table: @escaping @Sendable () -> RoleTable) async -> Bool {
        await adoptRoles(of: settings, table)
        tellProblems()
        return knowsRoles
    }

    /// Has something done once it is known who has which role.
    func whenRolesAreKnown(_ body: @escaping @Sendable () async -> Void) async {
        if knowsRoles { await body() } else { afterRoles = body }
    }

    private func tellProblems() {
        let problems = roleProblems + definitionProblems
        current.withLock { $0 = problems }
    }

    /// Applies `containers.d/` at the start; a reload waits for that.
    ///
    /// - Returns: what was done; nil if the daemon is stopping.
    func applyAtStart() async -> Outcome? {
        guard !isClosed else { return nil }
        isAtStart = true
        let task = Task(executorPreference: QuietExecutor.shared) { [self] in
            await applyDefinitions()
        }
        last = task
        let outcome = await task.value
        isAtStart = false
        return outcome
    }

    /// Lets the reload that is under way end; there will be no other.
    ///
    /// Nobody waits for definitions that a component keeps from being applied at the start.
    func close() async {
        isClosed = true
        guard !isAtStart else { return }
        _ = await last?.value
    }

    /// Applies `containers.d/`, its files beside each other; what is wrong with one, or hangs, keeps
    /// no other from being applied.
    private func applyDefinitions() async -> Outcome {
        var outcome = Outcome()
        let files = DefinitionFolder(settings).files()
        let application = DefinitionApplication(registry: parts.registry, loop: parts.loop)
        for applied in await application.apply(files) {
            for result in applied.results where result.action != .unchanged {
                outcome.changed.append("\(result.container): \(result.action.rawValue)")
                outcome.changed += result.changes.map { "\(result.container): \($0)" }
            }
            if let problem = applied.problem { outcome.problems.append("\(problem)") }
        }
        for problem in outcome.problems {
            logger.tell(.definitionNotApplied, ["reason": "\(problem)"])
        }
        outcome.changed += await abandoned(by: files)
        definitionProblems = outcome.problems
        tellProblems()
        return outcome
    }

    /// Containers that a file defined before and none does now: they stay, which is to be known.
    private func abandoned(by files: [DefinitionFolder.File]) async -> [String] {
        let before = origins
        let unread = files.filter { (try? $0.outcome.get()) == nil }.map(\.path)
        origins = before.filter { origin in unread.contains { origin.value.hasPrefix($0) } }
        for file in files {
            for definition in (try? file.outcome.get()) ?? [] {
                origins[definition.name] = file.path
            }
        }
        let gone = before.keys.filter { origins[$0] == nil }.sorted()
        guard !gone.isEmpty else { return [] }
        let (registry, loop) = (parts.registry, parts.loop)
        let known = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: registry.list().map(\.definition.name)) }
        }
        return gone.filter(known.contains).map {
            "\($0): in no file any more, and kept as it is; 'atriumctl delete \($0)' takes it away"
        }
    }

    private func perform() async -> Outcome {
        let changed: [String]
        do {
            changed = try await adopt(DaemonSettings.load(source))
        } catch {
            // As it was: a file that is half understood is worse than the one before.
            logger.tell(.settingsNotApplied, ["reason": "\(error)"])
            current.withLock { $0 = ["\(error)"] + roleProblems + definitionProblems }
            return Outcome(problems: ["\(error)"])
        }
        await limit()
        var outcome = await applyDefinitions()
        outcome.changed = changed + outcome.changed
        outcome.problems = roleProblems + outcome.problems
        logger.tell(
            .reloaded,
            ["changed": "\(outcome.done)", "problems": "\(outcome.problems.count)"])
        return outcome
    }

    /// Goes by new settings, as far as that is possible while running.
    ///
    /// - Returns: what changed, a line each.
    private func adopt(_ newer: DaemonSettings) async throws(DaemonError) -> [String] {
        // First what may fail. The groups behind the names may have changed, whatever the file says.
        let table = try newer.roleTable(groups: parts.listener.groups)
        await adoptRoles(of: newer, table)
        let differences = settings.differences(to: newer)
        // One that was set by a call stays, unless the files say something new.
        if newer.logLevel != settings.logLevel { parts.threshold.level = newer.logLevel }
        settings = newer.keeping(settings)
        keepNotifications()
        return differences.map {
            $0.isLive ? "\($0.key): changed" : "\($0.key): changed, from the next start on"
        }
    }

    /// Has everyone go by other roles, once the system's directory has said whom they name and who everybody is.
    ///
    /// A reload waits for it two seconds in all. Where it has not said by then whom they name, everyone has the
    /// roles of before until it does; where it has said that and not who everybody is, the new roles count,
    /// with the groups that people were in before.
    private func adoptRoles(of newer: DaemonSettings, _ table: @escaping @Sendable () -> RoleTable)
        async
    {
        rolesAsked += 1
        let number = rolesAsked
        let found = await parts.access.renew(table) { late in
            Task(executorPreference: QuietExecutor.shared) { [self] in
                await adoptRoles(of: newer, late, asked: number)
            }
        }
        // It may have answered in the meantime.
        guard number == rolesAsked else { return }
        let silence = knowsRoles ? Self.directorySilent : Self.directorySilentAtStart
        let problems: [String] =
            found.isComplete ? [] : [found.table == nil ? silence : Self.directorySlow]
        for problem in problems { logger.tell(.directorySilent, ["reason": "\(problem)"]) }
        if let table = found.table { return await go(by: newer, table, besides: problems) }
        roleProblems = problems
    }

    /// The directory has answered after all.
    private func adoptRoles(of newer: DaemonSettings, _ table: RoleTable, asked number: Int) async {
        guard number == rolesAsked else { return }
        rolesAsked += 1
        await go(by: newer, table)
        tellProblems()
    }

    /// Has everyone go by other roles, also who has streams and screens open.
    private func go(
        by newer: DaemonSettings, _ table: RoleTable, besides problems: [String] = []
    ) async {
        let unresolved = newer.problems(of: table)
        roleProblems = unresolved + problems
        for problem in unresolved { logger.tell(.roleUnresolved, ["reason": "\(problem)"]) }
        let access = parts.access
        if let server {
            await server.review { access.replace(table) }
        } else {
            access.replace(table)
        }
        guard !knowsRoles else { return }
        knowsRoles = true
        parts.listener.giveToGroup()
        await afterRoles.take()?()
    }

    /// Has everyone go by the limits that are set now.
    private func limit() async {
        let (registry, limits) = (parts.registry, settings.limits)
        parts.loop.execute { registry.limit(to: limits.host) }
        await server?.limit(to: limits.server)
    }

    /// Has the store keep as much of the past as the settings say.
    func keepNotifications() { parts.store?.keep(settings.retention) }
}
