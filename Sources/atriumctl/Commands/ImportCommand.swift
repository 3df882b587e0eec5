import ArgumentParser
import AtriumFormats
import JSONCodec

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Put the items of a file: CSV or JSON.",
        discussion: """
            A file is a CSV table whose first row names the columns (separated by commas, semicolons \
            or tabs; UTF-8, UTF-16 or Windows-1252), an array of JSON objects, or a JSON object a \
            line; it may be packed by gzip. Columns and members are fields, by their names in any case, or by \
            a title that one field alone has, beside 'id' and 'parent'. Values are read as 'put' reads them: durations as 1h57m, several \
            keywords separated by '|', ';' or ',', or as a JSON array of texts. Of an item that is \
            there, fields that the file has no column or member for stay, and so does the parent, \
            unless --replace is given; an empty cell takes a field away. A change that somebody makes to \
            such an item meanwhile may be lost. What 'export' writes is taken back just so, each item as \
            a whole: {"id": …, "fields": {…}}.

            Bad lines are named and left out; all others go in. Of an id that stands twice the later \
            line counts unless it is bad. What is there just so stays untouched, so an import that was interrupted is \
            completed by running it again. Nothing is removed: a file without items, such as [], changes \
            nothing, and a line says so; an empty file is an error.
            """,
        examples: "atriumctl import films films.ndjson",
        "atriumctl import films diary.csv --id title,year --ignore notes")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The file's format: csv, json or ndjson; by default detected from the content.",
            valueName: "format"))
    var format: TextFormat?

    @Option(
        help: ArgumentHelp(
            "Make ids of these columns, separated by commas: of title,year comes alien-1979.",
            valueName: "columns"),
        completion: .fieldNames)
    var id: String?

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Ignore this column; may be given several times.", valueName: "column"),
        completion: .nothing)
    var ignore: [String] = []

    @Flag(help: "Replace whole items: they have only what the file names.")
    var replace = false

    @OptionGroup var list: ListOption

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        var reader = try ImportReader(file, format: format)
        let session = try await connection.connect()
        Interruption.watch(saying: Terminal.isErrorTerminal ? Self.stopsOnTerminal : Self.stops)
        let columns = (id ?? "").split(separator: ",").map(ItemText.trimmed)
        var importer = Importer(
            session, container: container, component: list.component,
            wishes: .init(id: columns, ignored: ignore, replacesItems: replace),
            isInterrupted: { Interruption.isThere })
        let started = ContinuousClock.now
        var failure: (any Error)?
        do {
            try await importer.run(&reader)
            if importer.report.done + importer.report.bad == 0 {
                Output.note(PrintableText.line("\(reader.path) has no items"))
            }
        } catch {
            failure = error
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        try show(importer.report, seconds: seconds, failure)
    }

    private func show(_ report: ImportReport, seconds: Double, _ failure: (any Error)?) throws {
        for complaint in report.complaints { Output.note("atriumctl: \(complaint)") }
        let summary = report.summary(seconds: seconds)
        let json = connection.json ? JSON.encode(report.json(seconds: seconds)) : nil
        if failure is ImportInterrupted {
            if let json { Output.rawLine(json) }
            Output.note("atriumctl: interrupted; imported items are kept: \(summary)")
            Output.note("hint: run it again to continue; it skips imported items.")
            throw ExitCode(Self.interrupted)
        }
        if let failure {
            if report.done > 0 { Output.note("atriumctl: before that: \(summary)") }
            throw failure
        }
        if let json {
            Output.rawLine(json)
        } else {
            Output.line(summary)
        }
        if report.bad > 0 { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }

    /// What the first Ctrl-C prints.
    private static let stops: StaticString =
        "atriumctl: stopping once the daemon has replied to what was sent; Ctrl-C again ends it now\n"
    /// In place of the progress bar.
    private static let stopsOnTerminal: StaticString =
        "\r\u{1B}[Katriumctl: stopping once the daemon has replied to what was sent; Ctrl-C again ends it now\n"

    /// As shells have it of a command that Ctrl-C ended.
    private static let interrupted: Int32 = 130
}
