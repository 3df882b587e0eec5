import ArgumentParser

/// The options of every command that connects to the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket, a path or a Varlink address; by default $ATRIUM_SOCKET, else where one is found.",
            valueName: "address"),
        completion: .file())
    var socket: String?

    @Flag(help: "Print replies as they came, one JSON object a line.")
    var json = false

    /// Connects; the error says what to do where that fails.
    func connect() async throws -> Session {
        try await Session(socket: SocketPath.find(given: socket), printsJSON: json)
    }
}
