import AtriumFormats
import AtriumKit
import Glibc
import ItemReading

/// A service, what it is asked, and how its answers become items; used off the loop.
struct RemoteSource: Sendable {
    let address: Address
    /// How it is asked for each search; nil: it has one document.
    let question: QuestionParameters?
    /// How many seconds pass between two looks at the document.
    let interval: Int64
    /// Whoever posts this wants it to look at the service again.
    let topic: String?
    private let mapping: DocumentMapping
    private let mostBytes: Int
    private let timeout: Duration
    private let headers: [String]
    private let proxy: String?

    static let settings = [
        Setting(
            "url", .text, required: true,
            "where the document is, or what is asked: http:// or https://"),
        Setting(
            "ask", .object,
            "which parameters of the URL say what is searched, and so on: { search: q, path: under, sort: order, "
                + "limit: n, cursor: from }; with it the service is asked for each search"),
        Setting(
            "items", .text,
            "a JSON Pointer to the array of items; by default the document is one, or the only member that is one"
        ),
        Setting("total", .text, "a JSON Pointer to how many there are in all; with 'ask'"),
        Setting("next", .text, "a JSON Pointer to where the next ones begin; with 'ask.cursor'"),
        Setting(
            "id", .text, default: "id",
            "where ids are: a member or a JSON Pointer; of several, with commas between, they are made"
        ),
        Setting(
            "parent", .text, default: "parent",
            "where the id of the item is that an item lies under, likewise"),
        Setting(
            "fields", .object,
            "fields whose members have other names: { title: name, town: /address/town }"),
        Setting(
            "every", .integer(1...86_400), default: 300,
            "how many seconds pass between two looks at the document"),
        Setting(
            "reloadOn", .text,
            "a topic, such as mirrors.refresh: when it is posted, the service is asked again"),
        Setting(
            "timeout", .integer(1...25), default: 10, "how many seconds an answer may take"),
        Setting(
            "maxItems", .integer(1...1_000_000), default: 100_000, "how many items it may have"),
        Setting("maxMegabytes", .integer(1...256), default: 16, "how large an answer may be"),
        Setting(
            "authorization", .secret,
            "what the header of that name says, such as 'Bearer …': { secretFile: /PATH } or "
                + "{ secretCredential: NAME }"),
        Setting("proxy", .text, "a proxy that asks instead: http://host:port"),
    ]

    init(_ context: ComponentContext) throws(SettingError) {
        let settings = context.settings
        address = try Address(settings["url"]?.text ?? "")
        question = try settings["ask"]?.object.map { (object) throws(SettingError) in
            try QuestionParameters(object)
        }
        interval = settings["every"]?.int ?? 300
        topic = settings["reloadOn"]?.text
        mapping = try DocumentMapping(context)
        mostBytes = Int(settings["maxMegabytes"]?.int ?? 16) << 20
        timeout = .seconds(settings["timeout"]?.int ?? 10)
        headers = try Self.authorization(settings).map { ["Authorization: \($0)"] } ?? []
        proxy = settings["proxy"]?.text
        if let proxy, !proxy.hasPrefix("http://"), !proxy.hasPrefix("https://") {
            throw SettingError("proxy", "expected http://host:port, found '\(proxy)'")
        }
    }

    private static func authorization(_ settings: Settings) throws(SettingError) -> String? {
        guard let text = settings["authorization"]?.text else { return nil }
        let line = text.drop(while: \.isWhitespace)
        let value = line.last?.isNewline == true ? line.dropLast() : line
        guard !value.isEmpty, !value.unicodeScalars.contains(where: { $0.value < 32 }) else {
            // Of a secret nothing is quoted.
            throw SettingError("authorization", "expected one line of text")
        }
        return String(value)
    }
}

/// What tells one version of a document from another.
struct Validators: Sendable, Hashable {
    var etag: String?
    var modified: String?

    /// What asks for a document only if it is another one.
    var headers: [String] {
        [etag.map { "If-None-Match: \($0)" }, modified.map { "If-Modified-Since: \($0)" }]
            .compactMap(\.self)
    }
}

/// What came of looking at a document.
struct RemoteReading: Sendable {
    var validators: Validators
    /// What is other than before; nil: nothing is.
    var difference: ItemDifference?
}

extension RemoteSource {
    /// Looks at the document, and reads it when it is another one than before.
    ///
    /// - Parameters:
    ///   - client: Asks.
    ///   - validators: Of the document that was read last.
    ///   - known: What that had.
    ///   - isFirst: Whether there was none.
    /// - Returns: What differs from that.
    /// - Throws: ``RemoteProblem``.
    func read(
        _ client: HTTPClient?, unless validators: Validators, _ known: [String: Item], isFirst: Bool
    ) async throws -> RemoteReading {
        let response = try await response(
            client, address, timeout, isFirst ? [] : validators.headers)
        if response.status == 304, !isFirst { return RemoteReading(validators: validators) }
        let document = try await document(response)
        let items = Dictionary(document.items.map { ($0.id, $0) }) { first, _ in first }
        return RemoteReading(
            validators: Validators(
                etag: response.headers["etag"], modified: response.headers["last-modified"]),
            difference: ItemDifference(items, from: known, isFirst: isFirst))
    }

    /// Where the answer to a question begins.
    ///
    /// - Throws: ``Refusal`` for a cursor that none of its answers gave out.
    func place(
        of question: ContentQuestion, _ parameters: QuestionParameters
    ) throws(Refusal) -> AnswerPlace {
        let paging: AnswerPlace.Paging =
            if !parameters.hasCursor { .whole } else if mapping.saysNext { .said } else { .counted }
        guard let place = AnswerPlace(paging, question.cursor) else {
            throw Refusal(.cursorInvalid, "It is no cursor of this list.")
        }
        return place
    }

    /// Asks a question.
    ///
    /// - Parameters:
    ///   - client: Asks.
    ///   - question: What is asked.
    ///   - place: Where the answer begins, as the question's cursor says.
    ///   - parameters: How.
    /// - Returns: The answer.
    /// - Throws: ``RemoteProblem``.
    func answer(
        _ client: HTTPClient?, _ question: ContentQuestion, from place: AnswerPlace,
        _ parameters: QuestionParameters
    ) async throws -> ContentAnswer {
        var question = question
        question.cursor = place.cursor
        guard let address = address.asking(parameters.values(of: question)) else {
            throw RemoteProblem(name: address.name, reason: "what is searched is too long")
        }
        let document = try await document(try await response(client, address, timeout, []))
        return Self.page(of: document, question, from: place)
    }

    /// What of a document a question asks for.
    static func page(
        of document: DocumentMapping.Document, _ question: ContentQuestion, from place: AnswerPlace
    ) -> ContentAnswer {
        let items = document.items.dropFirst(place.skipped).prefix(question.limit)
        let next = place.next(
            after: items.count, of: document.items.count, said: document.next)
        var answer = ContentAnswer(items: Array(items), total: document.total, next: next?.text)
        if place.paging == .whole { answer.total = document.total ?? document.items.count }
        // An item that was found below another lies there, whatever it says of it.
        if let parent = question.path.last {
            for place in answer.items.indices where answer.items[place].parent == nil {
                answer.items[place].parent = parent
            }
        }
        return answer
    }

    private func document(_ response: HTTPResponse) async throws -> DocumentMapping.Document {
        guard response.status == 200 else {
            throw RemoteProblem(
                name: address.name, reason: Self.reason(response.status),
                pause: response.headers["retry-after"].flatMap { Double($0) })
        }
        do {
            return try await mapping.document(response.body)
        } catch let problem as FormatProblem {
            throw RemoteProblem(name: address.name, reason: "\(problem)")
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 401, 403:
            "it answers \(status): it wants to know who asks; see the setting 'authorization'"
        case 404, 410: "it answers \(status): there is no such document"
        case 429, 503: "it answers \(status): it is busy, and is left alone for a while"
        default: "it answers \(status)"
        }
    }

    private func response(
        _ client: HTTPClient?, _ address: Address, _ timeout: Duration, _ conditions: [String]
    ) async throws -> HTTPResponse {
        guard let client else {
            throw RemoteProblem(name: address.name, reason: "libcurl can't be used")
        }
        do {
            return try await client.get(
                HTTPRequest(
                    address: address, headers: headers + conditions, proxy: proxy,
                    mostBytes: mostBytes, timeout: timeout))
        } catch let failure as HTTPFailure {
            var reason = failure.reason
            switch failure.cause {
            case .network: reason = NetworkWall.reason ?? reason
            case .size:
                reason += ": more than the setting 'maxMegabytes' allows, \(mostBytes >> 20)"
            case .other: break
            }
            throw RemoteProblem(name: address.name, reason: reason)
        }
    }
}

/// Why a service has no answer for us, in words for people: where, and what to do.
struct RemoteProblem: Error, Sendable, CustomStringConvertible {
    /// The URL, as it may be told.
    let name: String
    let reason: String
    /// For how many seconds the service wants to be left alone.
    var pause: Double?

    var description: String { "\(name): \(reason)" }
}

/// What may keep this process from the network, apart from the network.
enum NetworkWall {
    /// Which wall there is, and who opens it; nil: none that can be seen.
    static var reason: String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        switch errno {
        case EACCES:
            return
                "its worker has no network: name org.atrium.remote under 'networkPlugins' of atrium.yaml, and "
                + "restart the daemon"
        case EAFNOSUPPORT:
            return "the service has no network: copy share/atrium/drop-ins/network.conf, as it says"
        default: return nil
        }
    }
}
