import Interfaces
import JSONCodec
import Varlink

/// A connection to the daemon for the length of a command.
///
/// Its methods throw every failure as ``CommandFailure``.
struct Session: Sendable {
    let client: VarlinkClient
    let socket: String
    /// Whether replies are printed as they came.
    let printsJSON: Bool

    init(socket: String, printsJSON: Bool = false) async throws {
        do {
            client = try await ServiceAddress.connect(socket)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw ConnectionProblem.explain(error, socket: socket)
        }
        self.socket = socket
        self.printsJSON = printsJSON
    }

    /// Calls a method whose reply the command uses, and does not print as it is.
    func call<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) async throws -> Method.Reply {
        do {
            return try await sayingWait { try await client.call(method, parameters) }
        } catch {
            throw await explain(error)
        }
    }

    /// Calls a method whose reply the command prints; nil with `--json`, since it was printed as it came.
    func answer<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) async throws -> Method.Reply? {
        let object = try await call(raw: method.name, JSONObject(writing: parameters) ?? .empty)
        guard !printsJSON else {
            Output.rawLine(object.bytes)
            return nil
        }
        return try decode(method, object)
    }

    /// Calls a method, and prints a line about its reply; with `--json`, the reply as it came.
    func report<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        _ line: (Method.Reply) async throws -> String
    ) async throws {
        guard let reply = try await answer(method, parameters) else { return }
        Output.line(PrintableText.line(try await line(reply)))
    }

    /// What the daemon knows of a container.
    func describe(_ container: String) async throws -> Containers.Describe.Reply {
        try await call(Containers.Describe.self, .init(container: container))
    }

    /// Calls a method page by page, and passes on each page; with `--json` it is printed as it came, too.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - parameters: Those of the first page.
    ///   - cursor: Where in the parameters the place of the next page stands.
    ///   - limit: Where in the parameters the length of a page stands.
    ///   - most: How many are wanted in all; nil: as many as there are.
    ///   - each: Takes a page, and returns how many it had, and where the next begins; nil: it was the last.
    /// - Throws: ``CommandFailure`` where a page fails.
    func pages<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        cursor: WritableKeyPath<Method.Parameters, String?>,
        limit: WritableKeyPath<Method.Parameters, Int?>, most: Int?,
        each: (Method.Reply) -> (count: Int, next: String?)
    ) async throws {
        var (parameters, rest) = (parameters, most)
        repeat {
            parameters[keyPath: limit] = LimitOption.next(of: rest)
            let object = try await call(raw: method.name, JSONObject(writing: parameters) ?? .empty)
            if printsJSON { Output.rawLine(object.bytes) }
            let page = each(try decode(method, object))
            parameters[keyPath: cursor] = page.next
            rest = rest.map { $0 - page.count }
        } while parameters[keyPath: cursor] != nil && rest ?? 1 > 0
    }

    /// Calls a method by name.
    func call(raw method: String, _ parameters: JSONObject) async throws -> JSONObject {
        do {
            return try await sayingWait {
                try await client.call(raw: method, parameters: parameters)
            }
        } catch {
            throw await explain(error)
        }
    }

    /// Waits for a reply, and says on standard error, once, that it takes long.
    ///
    /// Not for a series of replies, which may have long pauses, and not while a program has the whole terminal.
    func sayingWait<Reply>(_ reply: () async throws -> Reply) async throws -> Reply {
        let notice = Task { [socket] in
            try await Task.sleep(for: Self.patience)
            guard !Terminal.isTaken else { return }
            let service = ConnectionProblem.service(at: socket)
            Output.note(
                "atriumctl: the \(service) has not replied for "
                    + "\(Wording.duration(Self.patience / .seconds(1))); Ctrl-C ends the wait")
        }
        defer { notice.cancel() }
        return try await reply()
    }

    /// After how long a wait is said to be one.
    private static let patience = Duration.seconds(10)

    /// Calls a method for a series of replies, and passes on each as it came.
    func stream(
        raw method: String, _ parameters: JSONObject, each: (JSONObject) throws -> Void
    ) async throws {
        do {
            for try await object in client.stream(raw: method, parameters: parameters) {
                try each(object)
            }
        } catch {
            throw await explain(error)
        }
    }

    /// Calls a method for a series of replies, and passes on each, decoded and as it came.
    func stream<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        each: (Method.Reply, JSONObject) throws -> Void
    ) async throws {
        try await stream(raw: method.name, JSONObject(writing: parameters) ?? .empty) {
            try each(try decode(method, $0), $0)
        }
    }

    /// The failure for an error, with a hint for which the daemon may be called again.
    func explain(_ error: any Error) async -> CommandFailure {
        switch error {
        case let failure as CommandFailure: failure
        case let error as VarlinkRemoteError: await explain(error)
        default: ConnectionProblem.explain(error, socket: socket)
        }
    }

    private func explain(_ error: VarlinkRemoteError) async -> CommandFailure {
        var failure = RemoteProblem.explain(error)
        if let hint = await RemoteHints(client: client, socket: socket).hint(for: error) {
            failure.hint = hint
        }
        return failure
    }

    /// Decodes a reply; throws where it is not as this client's interfaces declare it.
    func decode<Method: VarlinkMethod>(
        _ method: Method.Type, _ object: JSONObject
    ) throws -> Method.Reply {
        do {
            return try JSON.decode(
                Method.Reply.self, from: object.bytes, allowsUnknownMembers: true)
        } catch {
            throw CommandFailure(
                "the daemon's reply to \(method.name) is not as this client knows it: \(error)",
                hint: "client and daemon are of different versions? See 'atriumctl status'.")
        }
    }
}
