import AtriumKit
import Host
import Synchronization

/// What a test's delegates write down, in order; they find it by its name in their settings.
final class DelegateLog: Sendable {
    private static let logs = Mutex<[String: DelegateLog]>([:])

    let name: String
    private let lines = Mutex<[String]>([])

    private init(name: String) { self.name = name }

    /// A log of its own.
    static func make() -> DelegateLog {
        logs.withLock { logs in
            let log = DelegateLog(name: "log-\(logs.count)")
            logs[log.name] = log
            return log
        }
    }

    /// The declaration of the setting that names it, for a delegate's class.
    static var settings: [Setting] { [log.setting] }
    private static let log = Setting.text("log", "the name of a test's log").required()

    /// The log that a delegate's settings name.
    static func named(in context: DelegateContext) throws -> DelegateLog {
        let name = context.settings[log]
        guard let log = logs.withLock({ $0[name] }) else {
            throw SettingError("log", "there is no log '\(name)'")
        }
        return log
    }

    /// A delegate of this plugin that writes to it.
    func delegate(of plugin: String) -> DelegateDefinition {
        DelegateDefinition(plugin: plugin, settings: ["log": .text(name)])
    }

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock { $0 } }

    func taken() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
