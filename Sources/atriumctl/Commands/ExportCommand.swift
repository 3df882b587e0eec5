import ArgumentParser
import Interfaces
import JSONCodec
import Varlink

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a container's items as lines of JSON.",
        discussion: """
            The first line says what it is: format, version and sequence. With --all votes and \
            comments come too, with their authors and times, all of one moment: 'import' restores \
            them. That takes an administrator.

            Where the store is damaged and a record can't be read, nothing is left out in silence: the \
            export fails. With --damaged it goes on without, and says what is missing.

            Exit status: 0 all is there; 1 something is missing, or the daemon refused.
            """,
        examples: "atriumctl export films --all >films.backup")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Flag(help: "Votes and comments too.")
    var all = false

    @Flag(help: "Leave out damaged records, and list them.")
    var damaged = false

    @OptionGroup var list: ListOption

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard !(all && list.component != nil) else {
            throw ValidationError("--all takes every component: leave --component out.")
        }
    }

    func run() async throws {
        let session = try await connection.connect()
        let version = try await session.call(Daemon.Status.self, .init()).version
        let header = ExportHeader(container: container, version: version, all: all)
        if all {
            try await exportRecords(header, session)
        } else {
            try await exportItems(header, session)
        }
    }

    private func exportRecords(_ header: ExportHeader, _ session: Session) async throws {
        var isFirst = true
        var lost: [String] = []
        try await session.stream(
            Containers.Export.self, .init(container: container, damaged: damaged ? true : nil)
        ) { reply, _ in
            lost += reply.lost ?? []
            var lines = JSONLines()
            if isFirst { lines.add(header.line(sequence: reply.sequence)) }
            isFirst = false
            for record in reply.records { lines.add(record) }
            try Output.whole(lines.bytes)
        }
        await reportSources(session)
        try show(lost)
    }

    /// Says whose items are not in an export of records: those of lists that have them from a source.
    private func reportSources(_ session: Session) async {
        let known = try? await session.client.call(
            Containers.Describe.self, .init(container: container))
        for list in known?.container.components ?? [] where list.kind == "contents" {
            switch await ItemSource.of(list.name, in: container, session) {
            case .source?:
                Output.note(
                    PrintableText.line(
                        "the items of '\(list.name)' are its source's: they are not in the export"))
            case .unknown(let reason)?:
                Output.note(
                    PrintableText.line(
                        "it is not known whether the items of '\(list.name)' are in the export: \(reason)"
                    ))
            case .records?, nil: break
            }
        }
    }

    /// Says what is missing in what was written.
    private func show(_ lost: [String]) throws {
        guard !lost.isEmpty else { return }
        for sentence in lost { Output.note("missing: \(PrintableText.line(sentence))") }
        throw ExitCode(CommandFailure.Status.refused.rawValue)
    }

    /// What is wrong with the records of the list that is exported; nil: all are there.
    private func damage(_ session: Session) async throws -> String? {
        let components = try await session.describe(container).container.components
        let list = components.first {
            $0.name == self.list.component || self.list.component == nil && $0.kind == "contents"
        }
        guard let list, list.damaged ?? false else { return nil }
        return "\(list.name): \(list.reason ?? "")"
    }

    private func exportItems(_ header: ExportHeader, _ session: Session) async throws {
        let lost = try await damage(session)
        if let lost, !damaged {
            throw CommandFailure(
                "records of the list can't be read: \(lost)",
                hint: "restore a backup, or write what is left with --damaged.")
        }
        var parameters = Contents.List.Parameters(
            container: container, component: list.component, limit: 1000)
        let fields = try await session.describe(container).fields
        // Else those would be left out that are in no list.
        if fields.contains(where: { $0.details == true }) {
            parameters.fields = fields.filter { $0.of == nil }.map(\.name)
        }
        var isFirst = true
        repeat {
            let reply = try await session.call(Contents.List.self, parameters)
            var lines = JSONLines()
            if isFirst { lines.add(header.line(sequence: reply.sequence)) }
            isFirst = false
            for item in reply.items {
                lines.add(
                    Contents.Put.Parameters.Items(
                        id: item.id, fields: item.fields, parent: item.parent))
            }
            try Output.whole(lines.bytes)
            parameters.cursor = reply.next
        } while parameters.cursor != nil
        try show(lost.map { [$0] } ?? [])
    }
}

/// The first line of an export.
struct ExportHeader {
    /// The version of the format.
    static let format = 1

    var container: String
    var version: String
    var all: Bool

    func line(sequence: Int) -> JSONValue {
        .object([
            .init("atrium", .int(Int64(Self.format))), .init("container", .string(container)),
            .init("all", .bool(all)), .init("sequence", .int(Int64(sequence))),
            .init("version", .string(version)),
        ])
    }
}

private struct JSONLines {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: some JSONWritable) {
        bytes += JSON.encode(value)
        bytes.append(UInt8(ascii: "\n"))
    }
}
