import ArgumentParser
import JSONCodec
import Varlink

/// The command `atriumctl call METHOD [JSON]`.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call any method, as it stands on the wire.")

    @Argument(help: "The method: org.atrium.Contents.List, or Contents.List for short.")
    var method: String

    @Argument(help: "Its parameters: a JSON object; - reads it from standard input.")
    var parameters: String = "{}"

    @Flag(help: "Ask for a series of replies.")
    var more = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let object = try JSONArgument.object(parameters)
        let name = InterfaceName.full(method: method)
        let session = try await connection.connect()
        if more {
            try await session.stream(raw: name, object) { show($0, session) }
        } else {
            show(try await session.call(raw: name, object), session)
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

/// The command `atriumctl interfaces`.
struct InterfacesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interfaces", abstract: "List the interfaces that the daemon speaks.")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(VarlinkService.GetInfo.self, .init())
        else { return }
        for interface in reply.interfaces { Output.line(PrintableText.line(interface)) }
    }
}

/// The command `atriumctl introspect INTERFACE`.
struct IntrospectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect", abstract: "Print an interface's definition.")

    @Argument(help: "The interface: org.atrium.Contents, or Contents for short.")
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

/// Names of interfaces and methods, as they may be typed.
enum InterfaceName {
    /// `Contents` stands for `org.atrium.Contents`.
    static func full(interface: String) -> String {
        interface.contains(".") ? interface : "org.atrium.\(interface)"
    }

    /// `Contents.List` stands for `org.atrium.Contents.List`.
    static func full(method: String) -> String {
        method.split(separator: ".").count == 2 ? "org.atrium.\(method)" : method
    }
}
