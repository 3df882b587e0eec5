import Configuration
import Control
import Foundation
import Logging
import SystemPackage

/// The settings of the daemon: name, type and default, each in one place.
///
/// A flag takes precedence over `ATRIUM_…` in the environment, which takes precedence over the file. An empty variable
/// counts as not set, as for `atriumctl` and `atrium-web`; that of a list makes the list empty.
struct DaemonSettings: Sendable {
    /// The socket's path.
    var socket: String
    /// The directory of the store.
    var stateDirectory: String
    /// The directory of the configuration file and `containers.d/`.
    var configurationDirectory: String
    /// Folders with plugins beside the shipped ones; their components are isolated by default.
    var pluginPath: [String]
    /// The lowest level of messages that are logged.
    var logLevel: Logger.Level
    /// The number of past notifications that are kept for subscribers that catch up.
    var notificationsKept: Int
    /// The bytes of past notifications that are kept; `Int.max`: no limit.
    var notificationBytesKept: Int
    /// The days before the newest notification for which notifications are kept; 0: no limit.
    var notificationDaysKept: Int
    /// The memory of a worker in bytes; `Int.max`: no limit.
    var workerMemoryMax: Int
    /// The number of processes and threads of a worker; 0: no limit.
    var workerTasksMax: Int
    /// The processor time of a worker, in hundredths of one processor; 0: no limit.
    var workerCpuMax: Int
    /// Ids of plugins whose workers may use the network.
    var networkPlugins: [String]
    /// Ids of plugins from `pluginPath` that may make delegates, which run in the daemon.
    var delegates: [String]
    /// The limits on users.
    var limits: LimitSettings
    /// The roles of users and `@groups`; front ends are given as `user=namespace`.
    var roles: RoleSettings
    /// The place where each key is set, for people: file and line, a variable, or a flag.
    let places: [String: String]

    /// The keys of the file.
    ///
    /// In the environment they have other names: `stateDirectory` is `ATRIUM_STATE_DIRECTORY`.
    static let keys = [
        "socket", "stateDirectory", "pluginPath", "logLevel", "notificationsKept",
        "notificationBytesKept", "notificationDaysKept", "workerMemoryMax",
        "workerTasksMax", "workerCpuMax", "networkPlugins", "delegates", "limits", "admins",
        "moderators",
        "members",
        "observers", "frontends",
    ]

    /// The keys that take lists; in the environment, list elements are separated by commas.
    private static let lists: Set<String> = [
        "pluginPath", "networkPlugins", "delegates", "admins", "moderators", "members", "observers",
        "frontends",
    ]

    private static let counts: Set<String> = [
        "notificationsKept", "notificationDaysKept", "workerTasksMax", "workerCpuMax",
    ]
    private static let sizes: Set<String> = ["notificationBytesKept", "workerMemoryMax"]

    /// The file, environment and flags from which settings are read, at the start and at each reload.
    struct Source: Sendable {
        /// The configuration file, with `containers.d/` beside it; nil: `atrium.yaml` in the configuration directory,
        /// if any.
        var file: String?
        /// Values given on the command line, by key.
        var flags: [String: ConfigValue]
        var directories: DefaultDirectories
    }

    /// Reads file, environment and flags; the error has the file and line, or the variable.
    static func load(_ source: Source) async throws -> DaemonSettings {
        let (flags, directories) = (source.flags, source.directories)
        let all = ProcessInfo.processInfo.environment
        let environment = all.filter { !$0.value.isEmpty }
        let emptied = lists.filter { all[variable($0)]?.isEmpty == true }
        let path = source.file ?? directories.configuration + "/atrium.yaml"
        let lines = try check(path, isWanted: source.file != nil)
        try refuseUnknownVariables(all)
        try refuseOddNumbers(environment)
        var providers: [any ConfigProvider] = [
            InMemoryProvider(
                name: "flags",
                values: Dictionary(
                    uniqueKeysWithValues: flags.map { (AbsoluteConfigKey([$0.key]), $0.value) })),
            EnvironmentVariablesProvider(environmentVariables: environment)
                .prefixKeys(with: "atrium"),
            InMemoryProvider(
                name: "empty lists of the environment",
                values: Dictionary(
                    uniqueKeysWithValues: emptied.map {
                        (AbsoluteConfigKey([$0]), ConfigValue(.stringArray([]), isSecret: false))
                    })),
        ]
        // The provider does not accept a file that sets nothing.
        if !lines.isEmpty {
            do {
                providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(path)))
            } catch {
                throw DaemonError("\(path): can't be read: \(error)")
            }
        }
        var places = lines.mapValues { "\(path):\($0)" }
        for key in keys where environment[variable(key)] != nil || emptied.contains(key) {
            places[key] = "environment variable \(variable(key))"
        }
        for key in flags.keys { places[key] = "command line" }
        var settings = try DaemonSettings(
            reading: ConfigReader(providers: providers), places: places, directories: directories)
        if let file = source.file {
            let folder = FilePath(file).removingLastComponent().string
            settings.configurationDirectory = folder.isEmpty ? "." : folder
        }
        try settings.refuseOddValues(in: path)
        return settings
    }

    /// Checks the file, and returns the line of each key that is set; a missing file is an error only if it was named
    /// explicitly.
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

    /// Throws for unknown variables, since a mistyped one would otherwise be ignored.
    ///
    /// `ATRIUM_KIT` is a variable of atriumctl's.
    private static func refuseUnknownVariables(_ environment: [String: String]) throws {
        let known = names.map(variable)
        for name in environment.keys.sorted()
        where name.hasPrefix("ATRIUM_") && name != "ATRIUM_KIT" && !known.contains(name) {
            throw DaemonError(
                "environment variable \(name): unknown; known are "
                    + known.joined(separator: ", "))
        }
    }

    /// Throws for invalid numbers, for which the default would otherwise be used.
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

    /// The keys of all settings, with the full keys of those in sections.
    private static var names: [String] {
        keys.filter { $0 != LimitSettings.section } + LimitSettings.known.map(name)
    }

    private static func name(of limit: NumberSetting) -> String {
        "\(LimitSettings.section).\(limit.key)"
    }

    /// The variable for a key: `ATRIUM_STATE_DIRECTORY`, or `ATRIUM_LIMITS_SCREENS` for `limits.screens`.
    private static func variable(_ key: String) -> String {
        "ATRIUM_"
            + key.map { $0 == "." ? "_" : $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
}

extension DaemonSettings {
    /// A setting that differs between these and newer settings.
    struct Difference {
        let key: String
        /// Whether a running daemon can adopt the new value.
        let isLive: Bool
    }

    /// The settings that differ in newer ones.
    func differences(to newer: DaemonSettings) -> [Difference] {
        Self.comparisons.filter { !$0.isSame(self, newer) }.map {
            Difference(key: $0.key, isLive: $0.isLive)
        } + limits.differences(to: newer.limits).map { Difference(key: $0, isLive: true) }
    }

    /// These settings, with the older values of those that only a start can change.
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
