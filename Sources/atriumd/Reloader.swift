import Control
import Host
import LogMessages
import Logging
import NIOCore
import Store
import Synchronization
import Systemd
import Varlink

/// Reloads configuration and definitions while the daemon runs, one reload at a time.
actor Reloader {
    /// The result of a reload.
    struct Outcome: Sendable {
        /// The changes that were made, one line each.
        var changed: [String] = []
        /// The problems, one sentence each.
        var problems: [String] = []

        /// The changes that were made, in one line; `nothing` if there were none.
        var done: String { changed.isEmpty ? "nothing" : changed.joined(separator: ", ") }
    }

    /// The parts of the daemon that a reload changes.
    struct Parts: Sendable {
        let registry: Registry
        let loop: any EventLoop
        let store: Store?
        let threshold: LogThreshold
        let access: AccessBook
        /// The sockets, whose groups have the role member.
        let listener: Listener
    }

    /// The current settings.
    private(set) var settings: DaemonSettings

    /// Reported while the directory does not answer after a reload.
    private static let directorySilent =
        "the system's directory of users does not answer: everyone keeps their previous roles until it does"
    /// Reported while the directory has not answered since the start.
    private static let directorySilentAtStart =
        "the system's directory of users does not answer: until it does, root and the daemon's own user are "
        + "admins, the socket's group are members, and nobody has a role by the settings"
    /// Reported while it is not known which groups users are in.
    private static let directorySlow =
        "group lookup (NSS) has not finished: users removed from a group keep its role until it has"

    /// The current problems of the files.
    nonisolated var problems: [String] { current.withLock { $0 } }

    private let source: DaemonSettings.Source
    private let parts: Parts
    private let logger: Logger
    private nonisolated let current = Mutex<[String]>([])
    private var roleProblems: [String] = []
    private var pluginProblems: [String] = []
    /// Called once roles are known.
    private var afterRoles: (@Sendable () async -> Void)?
    private var knowsRoles = false
    /// Counts queries for roles, so that late answers to older queries are ignored.
    private var rolesAsked = 0
    private var definitionProblems: [String] = []
    /// The file that defines each container, as of the last reload.
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

    /// Sets the server, whose limits a reload may change.
    func serve(with server: VarlinkServer) { self.server = server }

    /// Reloads everything, after the reloads that were requested before; returns the changes and problems, nil if the
    /// daemon is stopping.
    func reload(reportingTo signs: LifeSigns) async -> Outcome? {
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

    /// Creates the table of roles at the start, waiting at most two seconds for the system's directory; returns
    /// whether roles are known.
    func learnRoles(_ table: @escaping @Sendable () -> RoleTable) async -> Bool {
        await adoptRoles(of: settings, table)
        await checkPlugins(of: settings)
        logProblems()
        return knowsRoles
    }

    /// Runs the body once roles are known.
    func whenRolesAreKnown(_ body: @escaping @Sendable () async -> Void) async {
        if knowsRoles { await body() } else { afterRoles = body }
    }

    /// Finds ids of plugins in settings that no plugin has, and logs them.
    private func checkPlugins(of settings: DaemonSettings) async {
        let (registry, loop) = (parts.registry, parts.loop)
        let library = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: registry.plugins) }
        }
        pluginProblems = settings.unknownPlugins(in: library)
        for problem in pluginProblems { logger.log(.pluginUnknown, ["reason": "\(problem)"]) }
    }

    private func logProblems() {
        let problems = roleProblems + pluginProblems + definitionProblems
        current.withLock { $0 = problems }
    }

    /// Applies `containers.d/` at the start, for which reloads wait; returns the changes and problems, nil if the
    /// daemon is stopping.
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

    /// Ends after the reload in progress; later ones are refused.
    ///
    /// At the start it does not wait, because a component may keep definitions from being applied.
    func close() async {
        isClosed = true
        guard !isAtStart else { return }
        _ = await last?.value
    }

    /// Applies `containers.d/`, with its files concurrently.
    ///
    /// An error in a file, or one that hangs, does not keep the others from being applied.
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
            logger.log(.definitionNotApplied, ["reason": "\(problem)"])
        }
        outcome.changed += await abandoned(by: files)
        definitionProblems = outcome.problems
        logProblems()
        return outcome
    }

    /// Reports containers that no file defines any more: they stay.
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
            loop.execute {
                continuation.resume(
                    returning: registry.list(hasDetails: false).map(\.definition.name))
            }
        }
        return gone.filter(known.contains).map {
            "\($0): no longer defined by a file, but kept; 'atriumctl delete \($0)' deletes it"
        }
    }

    private func perform() async -> Outcome {
        let changed: [String]
        do {
            changed = try await adopt(DaemonSettings.load(source))
        } catch {
            // The old settings stay: applying half of a file would be worse.
            logger.log(.settingsNotApplied, ["reason": "\(error)"])
            current.withLock {
                $0 = ["\(error)"] + roleProblems + pluginProblems + definitionProblems
            }
            return Outcome(problems: ["\(error)"])
        }
        await limit()
        var outcome = await applyDefinitions()
        outcome.changed = changed + outcome.changed
        outcome.problems = roleProblems + pluginProblems + outcome.problems
        logger.log(
            .reloaded,
            ["changed": "\(outcome.done)", "problems": "\(outcome.problems.count)"])
        return outcome
    }

    /// Adopts new settings, as far as that is possible while running; returns the changes, a line each.
    private func adopt(_ newer: DaemonSettings) async throws(DaemonError) -> [String] {
        // The table first, because it may throw. It is created even if the file is the same: groups may have changed.
        let table = try newer.roleTable(groups: parts.listener.groups)
        await adoptRoles(of: newer, table)
        await checkPlugins(of: newer)
        let differences = settings.differences(to: newer)
        // A log level that was set by a call stays, unless the configured one changes.
        if newer.logLevel != settings.logLevel { parts.threshold.level = newer.logLevel }
        settings = newer.keeping(settings)
        keepNotifications()
        return differences.map {
            $0.isLive ? "\($0.key): changed" : "\($0.key): changed, from the next start on"
        }
    }

    /// Adopts new roles, once the system's directory has resolved the names and the groups of known users.
    ///
    /// A reload waits at most two seconds for both. If the names are not resolved by then, the old roles stay until
    /// they are. If only the users' groups are missing, the new roles take effect with the groups that are known.
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
        // The directory may have answered late meanwhile.
        guard number == rolesAsked else { return }
        let silence = knowsRoles ? Self.directorySilent : Self.directorySilentAtStart
        let problems: [String] =
            found.isComplete ? [] : [found.table == nil ? silence : Self.directorySlow]
        for problem in problems { logger.log(.directorySilent, ["reason": "\(problem)"]) }
        if let table = found.table { return await go(by: newer, table, besides: problems) }
        roleProblems = problems
    }

    /// Adopts roles from a late answer of the directory.
    private func adoptRoles(of newer: DaemonSettings, _ table: RoleTable, asked number: Int) async {
        guard number == rolesAsked else { return }
        rolesAsked += 1
        await go(by: newer, table)
        logProblems()
    }

    /// Makes a table of roles take effect, also for open streams and screens.
    private func go(
        by newer: DaemonSettings, _ table: RoleTable, besides problems: [String] = []
    ) async {
        let unresolved = newer.problems(of: table)
        roleProblems = unresolved + problems
        for problem in unresolved { logger.log(.roleUnresolved, ["reason": "\(problem)"]) }
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

    /// Makes the current limits take effect.
    private func limit() async {
        let (registry, limits) = (parts.registry, settings.limits)
        parts.loop.execute { registry.limit(to: limits.host) }
        await server?.limit(to: limits.server)
    }

    /// Sets the store's limits for past notifications.
    func keepNotifications() { parts.store?.setRetention(settings.retention) }
}
