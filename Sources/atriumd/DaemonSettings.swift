import Configuration
import Control
import Foundation
import Logging
import SystemPackage

/// What an administrator may set, each in one place: name, type, default.
///
/// A flag beats `ATRIUM_…` in the environment, which beats the file.
struct DaemonSettings: Sendable {
    /// The socket's path.
    var socket: String
    /// Where the store lives.
    var stateDirectory: String
    /// Where `atrium.yaml` and `containers.d/` are.
    var configurationDirectory: String
    /// Folders with plugins beside the shipped ones; their components are isolated by default.
    var pluginPath: [String]
    /// The least bad messages that are logged.
    var logLevel: Logger.Level
    /// How many notifications are kept for those who catch up.
    var notificationsKept: Int
    /// How many bytes of them; `Int.max`: as many as there are.
    var notificationBytesKept: Int
    /// Of how many days before the newest one; 0: however old they are.
    var notificationDaysKept: Int
    /// How many bytes a worker may have in memory; `Int.max`: as many as there are.
    var workerMemoryMax: Int
    /// How many processes and threads a worker may be; 0: as many as the machine takes.
    var workerTasksMax: Int
    /// How much of one processor a worker may take, in hundredths; 0: as much as there is.
    var workerCpuMax: Int
    /// Ids of plugins whose workers may speak to the internet.
    var networkPlugins: [String]
    /// Ids of plugins from `pluginPath` that may make delegates, which live in the daemon.
    var delegates: [String]
    /// What users may use up.
    var limits: LimitSettings
    /// Who has which role: users, `@groups`, and for front ends `user=namespace`.
    var roles: RoleSettings
    /// Where each key that is set stands, for people: file and line, a variable, or a flag.
    let places: [String: String]

    /// The keys of the file.
    ///
    /// In the environment `stateDirectory` is `ATRIUM_STATE_DIRECTORY`.
    static let keys = [
        "socket", "stateDirectory", "pluginPath", "logLevel", "notificationsKept",
        "notificationBytesKept", "notificationDaysKept", "workerMemoryMax",
        "workerTasksMax", "workerCpuMax", "networkPlugins", "delegates", "limits", "admins",
        "moderators",
        "members",
        "observers", "frontends",
    ]

    /// Those of them that take lists; in the environment their words stand with commas between.
    private static let lists: Set<String> = [
        "pluginPath", "networkPlugins", "delegates", "admins", "moderators", "members", "observers",
        "frontends",
    ]

    private static let counts: Set<String> = [
        "notificationsKept", "notificationDaysKept", "workerTasksMax", "workerCpuMax",
    ]
    private static let sizes: Set<String> = ["notificationBytesKept", "workerMemoryMax"]

    /// Where settings are read from, again and again.
    struct Source: Sendable {
        /// The configuration file; nil: `atrium.yaml` in the configuration directory, if any.
        var file: String?
        /// Values given on the command line, by key.
        var flags: [String: ConfigValue]
        /// The defaults.
        var directories: DefaultDirectories
    }

    /// Reads file, environment and flags.
    ///
    /// - Parameter source: where they are.
    /// - Returns: what they say.
    /// - Throws: `DaemonError` or `DefinitionProblem`, naming file and line or variable.
    static func load(_ source: Source) async throws -> DaemonSettings {
        let (flags, directories) = (source.flags, source.directories)
        let environment = ProcessInfo.processInfo.environment
        let path = source.file ?? directories.configuration + "/atrium.yaml"
        let lines = try check(path, isWanted: source.file != nil)
        try refuseUnknownVariables(environment)
        try refuseOddNumbers(environment)
        var providers: [any ConfigProvider] = [
            InMemoryProvider(
                name: "flags",
                values: Dictionary(
                    uniqueKeysWithValues: flags.map { (AbsoluteConfigKey([$0.key]), $0.value) })),
            EnvironmentVariablesProvider().prefixKeys(with: "atrium"),
        ]
        // The provider takes no file that sets nothing.
        if !lines.isEmpty {
            do {
                providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(path)))
            } catch {
                throw DaemonError("\(path): can't be read: \(error)")
            }
        }
        var places = lines.mapValues { "\(path):\($0)" }
        for key in keys where environment[variable(key)] != nil {
            places[key] = "environment variable \(variable(key))"
        }
        for key in flags.keys { places[key] = "command line" }
        let settings = try DaemonSettings(
            reading: ConfigReader(providers: providers), places: places, directories: directories)
        try settings.refuseOddValues(in: path)
        return settings
    }

    /// Looks the file over; that there is none matters only if it was asked for.
    ///
    /// - Returns: the line of each key that is set.
    private static func check(_ path: String, isWanted: Bool) throws -> [String: Int] {
        let text: String
        do {
            text = try TextFile.read(path)
        } catch {
            guard isWanted || !error.isMissing else { return [:] }
            throw DaemonError(
                "\(error)",
                status: [EACCES, EPERM].contains(error.errno) ? .permission : .configuration,
                errno: error.errno == 0 ? EINVAL : error.errno)
        }
        return try SettingsFile.check(
            text, file: path, known: keys, lists: lists, counts: counts, sizes: sizes,
            sections: [LimitSettings.section: LimitSettings.known])
    }

    private init(
        reading reader: ConfigReader, places: [String: String], directories: DefaultDirectories
    ) throws(DaemonError) {
        self.places = places
        socket = reader.string(forKey: "socket", default: directories.runtime + "/atrium.sock")
        stateDirectory = reader.string(forKey: "stateDirectory", default: directories.state)
        configurationDirectory = directories.configuration
        pluginPath = reader.stringArray(forKey: "pluginPath", default: [])
        let level = reader.string(forKey: "logLevel", default: "info")
        guard let known = Logger.Level(rawValue: level) else {
            throw DaemonError(
                "\(places["logLevel"] ?? ""): logLevel: '\(level)' is none of "
                    + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
        }
        logLevel = known
        notificationsKept = reader.int(forKey: "notificationsKept", default: 1_000_000)
        notificationBytesKept =
            SettingsFile.bytes(reader.string(forKey: "notificationBytesKept", default: "1G"))
            ?? .max
        notificationDaysKept = reader.int(forKey: "notificationDaysKept", default: 0)
        workerMemoryMax =
            SettingsFile.bytes(reader.string(forKey: "workerMemoryMax", default: "1G"))
            ?? .max
        workerTasksMax = reader.int(forKey: "workerTasksMax", default: 1_000)
        workerCpuMax = reader.int(forKey: "workerCpuMax", default: 100)
        networkPlugins = reader.stringArray(
            forKey: "networkPlugins", default: ["org.atrium.remote"])
        delegates = reader.stringArray(forKey: "delegates", default: [])
        limits = LimitSettings { limit in
            let key = ConfigKey(Self.name(of: limit))
            return reader.int(forKey: key)
                ?? reader.string(forKey: key).flatMap { limit.value($0) }
        }
        roles = RoleSettings(
            admins: reader.stringArray(forKey: "admins", default: []),
            moderators: reader.stringArray(forKey: "moderators", default: []),
            members: reader.stringArray(forKey: "members", default: []),
            observers: reader.stringArray(forKey: "observers", default: []),
            frontends: reader.stringArray(forKey: "frontends", default: []))
    }

    /// A mistyped variable would silently do nothing.
    ///
    /// `ATRIUM_KIT` is atriumctl's.
    private static func refuseUnknownVariables(_ environment: [String: String]) throws {
        let known = names.map(variable)
        for name in environment.keys.sorted()
        where name.hasPrefix("ATRIUM_") && name != "ATRIUM_KIT" && !known.contains(name) {
            throw DaemonError(
                "environment variable \(name): unknown; known are "
                    + known.joined(separator: ", "))
        }
    }

    /// A number that is none would silently be the default.
    private static func refuseOddNumbers(_ environment: [String: String]) throws {
        for name in counts.map(variable).sorted() {
            guard let text = environment[name], Int(text).map({ $0 < 0 }) ?? true else { continue }
            throw DaemonError(
                "environment variable \(name): expected a whole number, 0 or more, found '\(text)'")
        }
        for name in sizes.map(variable).sorted() {
            guard let text = environment[name], SettingsFile.bytes(text) == nil else { continue }
            throw DaemonError(
                "environment variable \(name): expected a size, such as 512M or 2G, or infinity, "
                    + "found '\(text)'")
        }
        for limit in LimitSettings.known {
            let name = variable(Self.name(of: limit))
            guard let text = environment[name], limit.value(text) == nil else { continue }
            throw DaemonError(
                "environment variable \(name): expected \(limit.expectation), found '\(text)'")
        }
    }

    /// The keys of all that can be set, those of sections whole.
    private static var names: [String] {
        keys.filter { $0 != LimitSettings.section } + LimitSettings.known.map(name)
    }

    private static func name(of limit: NumberSetting) -> String {
        "\(LimitSettings.section).\(limit.key)"
    }

    /// `stateDirectory` as `ATRIUM_STATE_DIRECTORY`, and `limits.screens` as `ATRIUM_LIMITS_SCREENS`.
    private static func variable(_ key: String) -> String {
        "ATRIUM_"
            + key.map { $0 == "." ? "_" : $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
}

extension DaemonSettings {
    /// What differs between these and newer ones, by key.
    struct Difference {
        let key: String
        /// Whether a daemon that runs can go by the new value.
        let isLive: Bool
    }

    /// What newer settings change.
    func differences(to newer: DaemonSettings) -> [Difference] {
        Self.comparisons.filter { !$0.isSame(self, newer) }.map {
            Difference(key: $0.key, isLive: $0.isLive)
        } + limits.differences(to: newer.limits).map { Difference(key: $0, isLive: true) }
    }

    /// These, but for what only a start can change: that is as it was.
    func keeping(_ older: DaemonSettings) -> DaemonSettings {
        var settings = self
        settings.socket = older.socket
        settings.stateDirectory = older.stateDirectory
        settings.pluginPath = older.pluginPath
        settings.workerMemoryMax = older.workerMemoryMax
        settings.workerTasksMax = older.workerTasksMax
        settings.workerCpuMax = older.workerCpuMax
        settings.networkPlugins = older.networkPlugins
        settings.delegates = older.delegates
        return settings
    }

    private struct Comparison {
        let key: String
        let isLive: Bool
        let isSame: @Sendable (DaemonSettings, DaemonSettings) -> Bool
    }

    private static let comparisons = [
        Comparison(key: "socket", isLive: false) { $0.socket == $1.socket },
        Comparison(key: "stateDirectory", isLive: false) { $0.stateDirectory == $1.stateDirectory },
        Comparison(key: "pluginPath", isLive: false) { $0.pluginPath == $1.pluginPath },
        Comparison(key: "workerMemoryMax", isLive: false) {
            $0.workerMemoryMax == $1.workerMemoryMax
        },
        Comparison(key: "workerTasksMax", isLive: false) { $0.workerTasksMax == $1.workerTasksMax },
        Comparison(key: "workerCpuMax", isLive: false) { $0.workerCpuMax == $1.workerCpuMax },
        Comparison(key: "networkPlugins", isLive: false) { $0.networkPlugins == $1.networkPlugins },
        Comparison(key: "delegates", isLive: false) { $0.delegates == $1.delegates },
        Comparison(key: "logLevel", isLive: true) { $0.logLevel == $1.logLevel },
        Comparison(key: "notificationsKept", isLive: true) {
            $0.notificationsKept == $1.notificationsKept
        },
        Comparison(key: "notificationBytesKept", isLive: true) {
            $0.notificationBytesKept == $1.notificationBytesKept
        },
        Comparison(key: "notificationDaysKept", isLive: true) {
            $0.notificationDaysKept == $1.notificationDaysKept
        },
        Comparison(key: "admins", isLive: true) { $0.roles.admins == $1.roles.admins },
        Comparison(key: "moderators", isLive: true) { $0.roles.moderators == $1.roles.moderators },
        Comparison(key: "members", isLive: true) { $0.roles.members == $1.roles.members },
        Comparison(key: "observers", isLive: true) { $0.roles.observers == $1.roles.observers },
        Comparison(key: "frontends", isLive: true) { $0.roles.frontends == $1.roles.frontends },
    ]
}
