import Configuration
import Control
import Foundation
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
    var logLevel: String
    /// How many notifications are kept for those who catch up.
    var notificationsKept: Int
    /// How many bytes a worker may have in memory; `Int.max`: as many as there are.
    var workerMemoryMax: Int
    /// How many processes and threads a worker may be; 0: as many as the machine takes.
    var workerTasksMax: Int
    /// Who has which role: users, `@groups`, and for front ends `user=namespace`.
    var roles: RoleSettings

    /// The keys of the file.
    ///
    /// In the environment `stateDirectory` is `ATRIUM_STATE_DIRECTORY`.
    static let keys = [
        "socket", "stateDirectory", "pluginPath", "logLevel", "notificationsKept",
        "workerMemoryMax",
        "workerTasksMax", "admins", "moderators", "members", "observers", "frontends",
    ]

    /// Those of them that take lists; in the environment their words stand with commas between.
    private static let lists: Set<String> = [
        "pluginPath", "admins", "moderators", "members", "observers", "frontends",
    ]

    private static let counts: Set<String> = ["notificationsKept", "workerTasksMax"]
    private static let sizes: Set<String> = ["workerMemoryMax"]

    /// Reads file, environment and flags.
    ///
    /// - Parameters:
    ///   - file: the configuration file; nil: `atrium.yaml` in the configuration directory, if any.
    ///   - flags: values given on the command line, by key.
    ///   - directories: the defaults.
    /// - Returns: what is in force.
    /// - Throws: `DaemonError` or `DefinitionProblem`, naming file and line or variable.
    static func load(
        file: String?, flags: [String: ConfigValue], directories: DefaultDirectories
    ) async throws -> DaemonSettings {
        let path = file ?? directories.configuration + "/atrium.yaml"
        if FileManager.default.fileExists(atPath: path) {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try SettingsFile.check(
                text, file: path, known: keys, lists: lists, counts: counts, sizes: sizes)
        } else if file != nil {
            throw DaemonError("configuration file \(path): there is no such file")
        }
        try refuseUnknownVariables(ProcessInfo.processInfo.environment)
        try refuseOddNumbers(ProcessInfo.processInfo.environment)
        let reader = ConfigReader(providers: [
            InMemoryProvider(
                name: "flags",
                values: Dictionary(
                    uniqueKeysWithValues: flags.map { (AbsoluteConfigKey([$0.key]), $0.value) })),
            EnvironmentVariablesProvider().prefixKeys(with: "atrium"),
            try await FileProvider<YAMLSnapshot>(filePath: FilePath(path), allowMissing: true),
        ])
        return DaemonSettings(reading: reader, directories: directories)
    }

    private init(reading reader: ConfigReader, directories: DefaultDirectories) {
        socket = reader.string(forKey: "socket", default: directories.runtime + "/atrium.sock")
        stateDirectory = reader.string(forKey: "stateDirectory", default: directories.state)
        configurationDirectory = directories.configuration
        pluginPath = reader.stringArray(forKey: "pluginPath", default: [])
        logLevel = reader.string(forKey: "logLevel", default: "info")
        notificationsKept = reader.int(forKey: "notificationsKept", default: 1_000_000)
        workerMemoryMax =
            SettingsFile.bytes(reader.string(forKey: "workerMemoryMax", default: "infinity"))
            ?? .max
        workerTasksMax = reader.int(forKey: "workerTasksMax", default: 1_000)
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
        let known = Set(keys.map(variable) + ["ATRIUM_KIT"])
        for name in environment.keys.sorted()
        where name.hasPrefix("ATRIUM_") && !known.contains(name) {
            throw DaemonError(
                "environment variable \(name): unknown; known are "
                    + keys.map(variable).joined(separator: ", "))
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
    }

    /// `stateDirectory` as `ATRIUM_STATE_DIRECTORY`.
    private static func variable(_ key: String) -> String {
        "ATRIUM_" + key.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
}

/// Why the daemon can't start, in a sentence.
struct DaemonError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
