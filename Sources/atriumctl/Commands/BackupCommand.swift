import ArgumentParser
import Interfaces
import JSONCodec

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a copy of the whole store to a file while the daemon runs.",
        discussion: """
            The copy is of one moment: all containers with their definitions, items, votes, comments and \
            past notifications; 'restore' puts it back. The daemon's settings and the files in \
            containers.d are not in it. That takes an administrator, and as much room beside the store \
            as the copy has bytes, until it is written.

            The file is there once it is whole, readable for who wrote it alone. A link stays, and \
            leads to the new file. A device or a pipe is written to.
            """,
        examples: "atriumctl backup nightly.backup", "atriumctl backup | zstd >nightly.zst")

    @Argument(help: "The file; - or none: standard output.", completion: .file())
    var file: String = "-"

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var connection: ConnectionOptions

    private var path: String? { file == "-" ? nil : file }

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("'' is no file: name one, or '-'.") }
        guard path != nil || !connection.json else {
            throw ValidationError("--json prints what was written: name a file for the backup.")
        }
        guard path != nil || !Terminal.isOutputTerminal else {
            throw ValidationError("a backup is no text for a terminal: name a file.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        let output = try WholeFile(path, replaces: force)
        var (written, last) = (0, Interfaces.Store.Backup.Reply?.none)
        var progress = ProgressBar(unit: .bytes)
        defer { progress.clear() }
        try await session.stream(Interfaces.Store.Backup.self, .init()) { reply, _ in
            guard let bytes = Base64.decode(reply.data) else {
                throw CommandFailure("the daemon sent a part of the backup that is no base64")
            }
            try output.write(bytes)
            written += bytes.count
            progress.show(done: written, position: written, size: reply.bytes)
            last = reply
        }
        guard let last, last.data.isEmpty, written == last.bytes else {
            throw CommandFailure(
                "the backup ended early, after \(Wording.bytes(written))", hint: "try again.")
        }
        try output.finish()
        progress.clear()
        show(last)
    }

    private func show(_ reply: Interfaces.Store.Backup.Reply) {
        guard let path else {
            return Output.note(
                "wrote \(Wording.bytes(reply.bytes)), sequence \(Wording.count(reply.sequence))")
        }
        guard !connection.json else {
            let summary = JSONValue.object([
                .init("file", .string(path)), .init("bytes", .int(Int64(reply.bytes))),
                .init("sequence", .int(Int64(reply.sequence))),
                .init("store", .string(reply.store)),
            ])
            return Output.rawLine(JSON.encode(summary))
        }
        Output.line(
            PrintableText.line(
                "wrote \(path): \(Wording.bytes(reply.bytes)), sequence \(Wording.count(reply.sequence))"
            ))
    }
}
