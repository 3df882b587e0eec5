import Foundation
import Testing

/// What would have a process with nothing to do woken up once a second, for good.
struct IdleTests {
    /// What runs in the daemon and its workers.
    static let modules = [
        "AtriumKit", "Control", "Host", "Index", "Instruments", "LogMessages", "PluginLoader",
        "Store",
        "Systemd",
        "Workers", "atrium-worker", "atriumd",
    ]

    @Test(arguments: modules)
    func `no task runs on Swift's own pool`(module: String) throws {
        for file in try Repository.swiftFiles(below: [HouseRules.folder(of: module)]) {
            for (number, line) in try Self.code(of: file).enumerated() {
                #expect(
                    !Self.wakes(line),
                    "\(Repository.name(of: file)):\(number + 1): see QuietExecutor\n\(line)")
            }
        }
    }

    @Test func `tasks on that pool are found, others are not`() {
        for line in [
            "Task { await work() }", "let task = Task { [self] in", "await Task.detached {",
            "try await Task.sleep(for: .seconds(1))", "DispatchQueue.global().async {",
            "DispatchQueue(label: \"x\", attributes: .concurrent)", "Task(priority: .low) {",
            "for await _ in signals.cancelOnGracefulShutdown() {",
        ] {
            #expect(Self.wakes(line), "\(line)")
        }
        for line in [
            "Task(executorPreference: QuietExecutor.shared) {", "group.addTask { await work() }",
            "/// Say `Task { … }`.", "let task: Task<Void, Never>", "Task.isCancelled",
            "DispatchQueue(label: \"atrium.load\")", "loop.scheduleTask(in: pause) {",
            "withTaskGroup(of: Void.self) { group in",
        ] {
            #expect(!Self.wakes(line), "\(line)")
        }
    }

    private static func code(of file: URL) throws -> [Substring] {
        try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private static func wakes(_ line: some StringProtocol) -> Bool {
        // Looked at closely where it is worth it: there are many lines.
        guard ["Task", "oncurrent", "DispatchQueue", "cancelOn"].contains(where: line.contains)
        else { return false }
        let code = String(line)
        guard !code.trimmingCharacters(in: .whitespaces).hasPrefix("//") else { return false }
        let task = /\bTask(\.detached)?(\((?!executorPreference:).*\))? \{/
        let other = /\bTask\.sleep|DispatchQueue\.global|\.concurrent\b|cancelOnGracefulShutdown/
        return code.contains(task) || code.contains(other)
    }
}
