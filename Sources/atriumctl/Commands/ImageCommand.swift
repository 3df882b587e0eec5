import ArgumentParser
import Interfaces
import JSONCodec
import Varlink

struct ImageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "image", abstract: "Write an item's picture to a file.",
        discussion: """
            The field is one of the type 'image' that holds a picture itself, or names one that the \
            item's source has. A picture in the web is read from there: 'describe' shows its address.

            The file is there once it is whole, readable for who wrote it alone. With --json and without \
            --output it is printed as the daemon sends it, in base64 with its type.
            """,
        examples: #"atriumctl image "compilation/07 Thirds.wav" cover --output thirds.png"#)

    @Argument(
        help: ArgumentHelp("The item.", valueName: "container/item"), completion: .targets,
        transform: Target.parse)
    var target: Target

    @Argument(help: "The field.")
    var field: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file; - or none: standard output.", valueName: "file"),
        completion: .file())
    var output: String = "-"

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var list: ListOption

    @OptionGroup var connection: ConnectionOptions

    private var path: String? { output == "-" ? nil : output }

    func validate() throws {
        guard path != nil || connection.json || !Terminal.isOutputTerminal else {
            throw ValidationError("a picture is no text for a terminal: name a file with --output.")
        }
    }

    func run() async throws {
        let item = try target.requiredItem()
        let session = try await connection.connect()
        let parameters = Contents.Image.Parameters(
            container: target.container, component: list.component, item: item, field: field)
        let object = try await picture(parameters, session)
        if path == nil, connection.json { return Output.rawLine(object.bytes) }
        let reply = try session.decode(Contents.Image.self, object)
        let bytes = try Self.bytes(of: reply)
        guard let path else { return Output.bytes(bytes) }
        let file = try WholeFile(path, replaces: force)
        try file.write(bytes)
        try file.finish()
        guard !connection.json else {
            let summary = JSONValue.object([
                .init("file", .string(path)), .init("type", .string(reply.type)),
                .init("bytes", .int(Int64(bytes.count))),
            ])
            return Output.rawLine(JSON.encode(summary))
        }
        Output.line(
            PrintableText.line("wrote \(path): \(reply.type), \(Wording.bytes(bytes.count))"))
    }

    /// The reply as it came.
    private func picture(
        _ parameters: Contents.Image.Parameters, _ session: Session
    ) async throws -> JSONObject {
        do {
            return try await session.sayingWait {
                try await session.client.call(
                    raw: Contents.Image.name, parameters: JSONObject(writing: parameters) ?? .empty)
            }
        } catch let error as VarlinkRemoteError {
            guard case .fieldUnknown(let field, let known) = InterfaceError(error) else {
                throw await session.explain(error)
            }
            // There may be a field of that name: `known` are those that hold pictures.
            throw CommandFailure(
                "there is no field '\(field)' of the type image",
                hint: Nearest.hint(field, known) ?? "'\(target.container)' has none.")
        } catch {
            throw await session.explain(error)
        }
    }

    private static func bytes(of reply: Contents.Image.Reply) throws -> [UInt8] {
        guard let bytes = Base64.decode(reply.data) else {
            throw CommandFailure("the daemon sent a picture that is no base64")
        }
        return bytes
    }
}
