import ArgumentParser
import JSONCodec
import Varlink

struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call any method of any Varlink service.",
        usage: "atriumctl call [ADDRESS] METHOD [JSON] [--more | --oneway | --upgrade] [--json]",
        discussion: """
            Without an ADDRESS it is the daemon that is called. \(ServiceAddress.help)

            An error that the service answers with goes to standard error by name, with its
            parameters; the exit status is 1 then.
            """,
        examples: #"atriumctl call Contents.List '{"container":"films","limit":3}'"#)

    @Argument(
        help: "The method: org.atrium.Contents.List, or Contents.List for short.",
        completion: .methods)
    var method: String

    @Argument(help: "Its parameters: a JSON object; - reads it from standard input.")
    var parameters: String = "{}"

    @Flag(help: "Request a series of replies, one a line.")
    var more = false

    @Flag(help: "Request no reply, and do not wait.")
    var oneway = false

    @Flag(
        help: """
            Upgrade to another protocol after the reply, which goes to standard error, and connect it to standard \
            input and output.
            """)
    var upgrade = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard [more, oneway, upgrade].count(where: \.self) <= 1 else {
            throw ValidationError("--more, --oneway and --upgrade exclude each other.")
        }
    }

    func run() async throws {
        let object = try JSONArgument.object(parameters, "the parameters")
        let name = InterfaceName.full(method: method)
        let session = try await connection.connect()
        do {
            try await call(name, object, session)
        } catch let error as VarlinkRemoteError {
            throw CallProblem.explain(error, method: name, address: connection.socket)
        } catch let error as VarlinkConnectionError where error.kind == .protocolViolation {
            throw CallProblem.explain(error, method: name)
        } catch {
            throw await session.explain(error)
        }
    }

    private func call(_ name: String, _ object: JSONObject, _ session: Session) async throws {
        let client = session.client
        if oneway {
            client.oneway(raw: name, parameters: object)
            try await client.whenWritable()
        } else if upgrade {
            let (reply, connection) = try await client.upgrade(raw: name, parameters: object)
            if !reply.isEmpty { Output.note(PrintableText.line("\(reply)")) }
            try await RawTerminal.join(connection)
        } else if more {
            for try await reply in client.stream(raw: name, parameters: object) {
                show(reply, session)
            }
        } else {
            let reply = try await session.sayingWait {
                try await client.call(raw: name, parameters: object)
            }
            show(reply, session)
        }
    }

    private func show(_ object: JSONObject, _ session: Session) {
        if session.printsJSON || !Terminal.isOutputTerminal {
            Output.rawLine(object.bytes)
        } else {
            let lines = PrintableText.lines(JSON.pretty(object.value))
            Output.line(lines.joined(separator: "\n"))
        }
    }
}

struct InterfacesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interfaces",
        abstract: "List the interfaces of the daemon, or of any Varlink service.",
        usage: "atriumctl interfaces [ADDRESS] [--json]", discussion: ServiceAddress.help,
        examples: "atriumctl interfaces",
        "atriumctl interfaces unix:/run/systemd/resolve/io.systemd.Resolve")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(VarlinkService.GetInfo.self, .init())
        else { return }
        for interface in reply.interfaces { Output.line(PrintableText.line(interface)) }
    }
}

struct IntrospectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect",
        abstract: "Print an interface's definition, of any Varlink service.",
        usage: "atriumctl introspect [ADDRESS] INTERFACE [--json]", discussion: ServiceAddress.help,
        examples: "atriumctl introspect Votes")

    @Argument(
        help: "The interface: org.atrium.Contents, or Contents for short.",
        completion: .interfaces)
    var interface: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        let name = InterfaceName.full(interface: interface)
        guard
            let reply = try await session.answer(
                VarlinkService.GetInterfaceDescription.self, .init(interface: name))
        else { return }
        for line in PrintableText.lines(reply.description) { Output.line(line) }
    }
}
