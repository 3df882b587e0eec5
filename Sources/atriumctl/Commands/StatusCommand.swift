import ArgumentParser
import Interfaces

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the daemon's state.",
        examples: "atriumctl status")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let status = try await session.answer(Daemon.Status.self, .init()) else { return }
        let state = status.state.rawValue
        let dot = Style.state(state)?("●") ?? "●"
        let shown = Style.state(state)?(state) ?? state
        Output.line("\(dot) atriumd \(PrintableText.line(status.version)): \(shown)")
        for problem in status.problems {
            Output.line("  \(Style.red("!")) \(PrintableText.line(problem))")
        }
        facts(status).show()
    }

    private func facts(_ status: Daemon.Status.Reply) -> Facts {
        var facts = Facts()
        let user = ActorName.shown("unix:\(status.uid)")
        facts.add(
            "Running", "\(Wording.duration(status.uptime)), since \(status.started)")
        facts.add("Process", "\(status.pid), user \(user), \(Wording.bytes(status.memory))")
        facts.add("Socket", status.socket)
        facts.add(
            "Store",
            "\(status.stateDirectory), \(Wording.bytes(status.storeBytes)), "
                + "sequence \(Wording.count(status.sequence)), \(status.store)")
        facts.add(
            "Holds",
            "\(Wording.count(status.containers, "container")), "
                + "\(Wording.count(status.items, "item")), "
                + Wording.count(status.plugins, "plugin"))
        if let past = status.notifications { facts.add("Keeps", Self.sentence(past)) }
        facts.add(
            "Serves",
            "\(Wording.count(status.connections, "connection")), "
                + "\(Wording.count(status.subscribers, "subscriber")), "
                + "\(Wording.count(status.screens, "screen")), "
                + Wording.count(status.workers, "worker"))
        return facts
    }

    /// What is kept of the past, and what may be.
    private static func sentence(_ past: Daemon.Status.Reply.Notifications) -> String {
        let limits = [
            Wording.count(past.most), past.mostBytes.map { Wording.bytes($0) },
            past.mostDays.map { Wording.count($0, "day") },
        ].compactMap(\.self)
        return "\(Wording.count(past.count, "notification")), \(Wording.bytes(past.bytes)); "
            + "at most \(limits.joined(separator: ", "))"
    }
}
