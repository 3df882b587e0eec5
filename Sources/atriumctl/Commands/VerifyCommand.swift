import ArgumentParser
import Interfaces
import JSONCodec

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that the daemon shows what its store contains.",
        discussion: """
            Reads all records, counts ballots and comments anew, and compares that with lists, tallies, \
            counts and threads, while the daemon runs. Nothing is mended: what is wrong is named with \
            what to do, and makes its container degraded. Without a container the log of entries and \
            the store's file are looked at, too. That takes an administrator.

            Exit status: 0 nothing is wrong; 1 something is, or the daemon refused.
            """,
        examples: "atriumctl verify", "atriumctl verify films")

    @Argument(help: "The container; by default all, and the store itself.", completion: .containers)
    var container: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        var progress = ProgressLine()
        var last: (reply: Interfaces.Store.Verify.Reply, object: JSONObject)?
        defer { progress.clear() }
        try await session.stream(
            Interfaces.Store.Verify.self, .init(container: container)
        ) { reply, object in
            if let news = reply.progress { progress.show(Self.text(news)) }
            last = (reply, object)
        }
        progress.clear()
        guard let last, let checked = last.reply.checked, let damage = last.reply.damage else {
            throw CommandFailure("the verification ended early", hint: "try again.")
        }
        if session.printsJSON {
            Output.rawLine(last.object.bytes)
        } else {
            show(checked, damage)
        }
        if !damage.isEmpty { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }

    private static func text(_ news: VerifyProgress) -> String {
        let name = news.container.isEmpty ? "the store" : "\(news.container)/\(news.component)"
        return "\(name): \(Wording.count(news.records, "record"))"
    }

    /// The store itself has three parts, which have no names.
    private static func isDamage(_ damage: Damage, of part: Checked) -> Bool {
        guard damage.container == part.container, damage.component == part.component else {
            return false
        }
        let kind = damage.kind == .log || damage.kind == .file ? damage.kind.rawValue : nil
        let own = part.kind == "log" || part.kind == "file" ? part.kind : nil
        return kind == own
    }

    private func show(_ checked: [Checked], _ damage: [Damage]) {
        if !checked.isEmpty {
            var table = Table([
                .text("container"), .text("component"), .text("kind"), .number("records"),
                .state("found"),
            ])
            for part in checked {
                let own = damage.filter { Self.isDamage($0, of: part) }
                table.add([
                    part.container, part.component, part.kind,
                    part.kind == "file" ? "" : Wording.count(part.records),
                    own.isEmpty ? part.skipped.map { "not compared: \($0)" } ?? "ok" : "damaged",
                ])
            }
            table.show()
        }
        for one in damage {
            let name = one.container.isEmpty ? "the store" : "\(one.container)/\(one.component)"
            Output.line(
                "\(Style.red("!")) \(PrintableText.line("\(name): \(one.found). \(one.advice)."))")
            guard one.count > 1 || one.kind == .unreadable || one.kind == .checksum else {
                continue
            }
            let keys = one.keys.map { "'\($0)'" }.joined(separator: ", ")
            let more = one.count > one.keys.count ? ", …" : ""
            if !keys.isEmpty { Output.line("  \(PrintableText.line(keys + more))") }
        }
        Output.line(
            damage.isEmpty
                ? "Nothing is wrong." : "Nothing was repaired; 'atriumctl status' names it, too.")
    }
}

/// What a long command is at, on standard error where that is a terminal.
private struct ProgressLine {
    private var isDrawn = false

    mutating func show(_ text: String) {
        guard Terminal.isErrorTerminal else { return }
        isDrawn = true
        let shown = DisplayWidth.cut(PrintableText.line(text), to: (Terminal.errorWidth ?? 80) - 1)
        Output.progress("\r\u{1B}[K\(shown)")
    }

    mutating func clear() {
        guard isDrawn else { return }
        isDrawn = false
        Output.progress("\r\u{1B}[K")
    }
}
