import AtriumFormats
import AtriumKit
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
    private let proxy: Proxy?
    private let proxyHeaders: [String]
    private let caFile: String?

    private static let url = Setting.text(
        "url", "where the document is, or what is asked: http:// or https://"
    ).required()
    private static let ask = Setting.object(
        "ask",
        "which parameters of the URL say what is searched, and so on: { search: q, path: under, sort: order, "
            + "limit: n, cursor: from }; with it the service is asked for each search")
    private static let every = Setting.integer(
        "every", in: 1...86_400, "how many seconds pass between two looks at the document"
    ).defaulting(to: 300)
    private static let reloadOn = Setting.text(
        "reloadOn",
        "a topic, such as mirrors.refresh: when it is posted, the service is asked again")
    private static let timeout = Setting.integer(
        "timeout", in: 1...25, "how many seconds an answer may take"
    ).defaulting(to: 10)
    private static let maxMegabytes = Setting.integer(
        "maxMegabytes", in: 1...256, "how large an answer may be"
    ).defaulting(to: 16)
    private static let authorization = Setting.secret(
        "authorization",
        "the value of the header of that name, such as 'Bearer …': { secretFile: /PATH } or { secretCredential: NAME }"
    )
    private static let caFile = Setting.path(
        "caFile",
        "a PEM file of certificate authorities that are trusted in addition to the system's"
    )
    private static let proxy = Setting.text("proxy", "the proxy for all requests: http://host:port")
    private static let proxyAuthorization = Setting.secret(
        "proxyAuthorization", "the value of the header Proxy-Authorization for the proxy, likewise")

    static var settings: [Setting] {
        [url.setting, ask.setting] + DocumentMapping.settings
            + [
                every.setting, reloadOn.setting, timeout.setting, maxMegabytes.setting,
                authorization.setting, caFile.setting, proxy.setting, proxyAuthorization.setting,
            ]
    }

    init(_ context: ComponentContext) throws(SettingError) {
        let settings = context.settings
        address = try Address(settings[Self.url])
        question = try settings[Self.ask].map { (object) throws(SettingError) in
            try QuestionParameters(object)
        }
        interval = Int64(settings[Self.every])
        topic = try Self.topic(settings)
        mapping = try DocumentMapping(context)
        mostBytes = settings[Self.maxMegabytes] << 20
        timeout = .seconds(settings[Self.timeout])
        headers = try Self.header("Authorization", Self.authorization, settings)
        proxy = try settings[Self.proxy].map { (text) throws(SettingError) in try Proxy(text) }
        proxyHeaders = try Self.header(
            "Proxy-Authorization", Self.proxyAuthorization, settings)
        caFile = settings[Self.caFile]
    }

    /// The topic of `reloadOn`; throws for what is none, which nobody can post.
    private static func topic(_ settings: Settings) throws(SettingError) -> String? {
        guard let text = settings[reloadOn] else { return nil }
        let isTopic = text.wholeMatch(of: /[a-z0-9-]+(\.[a-z0-9-]+)*/) != nil
        guard isTopic, text.utf8.count <= 255 else {
            throw SettingError(
                reloadOn.name,
                "expected one topic, words of a-z, 0-9 and '-' with dots between such as mirrors.refresh, "
                    + "found '\(text.prefix(100))'")
        }
        return text
    }

    /// The line of a header that a secret fills; none where the setting is not there.
    private static func header(
        _ name: String, _ setting: TypedSetting<String?>, _ settings: Settings
    ) throws(SettingError) -> [String] {
        guard let text = settings[setting] else { return [] }
        let line = text.drop(while: \.isWhitespace)
        let value = line.last?.isNewline == true ? line.dropLast() : line
        guard !value.isEmpty, !value.unicodeScalars.contains(where: { $0.value < 32 }) else {
            // Of a secret nothing is quoted.
            throw SettingError(setting.name, "expected one line of text")
        }
        return ["\(name): \(value)"]
    }
}

/// What distinguishes one version of a document from another.
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
    /// The document as it is to be kept; nil: as it is kept already.
    var kept: [UInt8]?
    /// The digest of what is kept then; nil: nothing was read.
    var digest: Int?

    /// A number that differs for other bytes, in this process.
    static func digest(_ bytes: [UInt8]) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}

extension RemoteSource {
    /// Looks at the document, and reads it when it is another one than before; returns what differs from that.
    func read(
        _ client: HTTPClient?, unless validators: Validators, _ known: [String: Item],
        isFirst: Bool, keeping digest: Int?
    ) async throws -> RemoteReading {
        let response = try await response(
            client, address, timeout, isFirst ? [] : validators.headers)
        if response.status == 304, !isFirst { return RemoteReading(validators: validators) }
        let document = try await document(response)
        let items = Dictionary(document.items.map { ($0.id, $0) }) { first, _ in first }
        let new = Validators(
            etag: response.headers["etag"], modified: response.headers["last-modified"])
        // A service that names no version sends the same bytes at each look.
        let kept = KeptDocument(response.body, new).bytes
        let newDigest = RemoteReading.digest(kept)
        return RemoteReading(
            validators: new, difference: ItemDifference(items, from: known, isFirst: isFirst),
            kept: newDigest == digest ? nil : kept, digest: newDigest)
    }

    /// Reads the document that was kept, as if the service had answered it; nil where that can't be read, or makes no
    /// items of the fields that there are now.
    func read(kept bytes: [UInt8]) async -> RemoteReading? {
        guard let kept = KeptDocument(bytes), let document = try? await mapping.document(kept.body)
        else { return nil }
        let items = Dictionary(document.items.map { ($0.id, $0) }) { first, _ in first }
        return RemoteReading(
            validators: kept.validators,
            difference: ItemDifference(items, from: [:], isFirst: true),
            digest: RemoteReading.digest(bytes))
    }

    /// Where the answer to a question begins; throws for a cursor that none of its answers gave out.
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

    /// Asks a question, whose answer begins at a place.
    func answer(
        _ client: HTTPClient?, _ question: ContentQuestion, from place: AnswerPlace,
        _ parameters: QuestionParameters
    ) async throws -> ContentAnswer {
        var question = question
        question.cursor = place.cursor
        guard let address = address.asking(parameters.values(of: question)) else {
            throw RemoteProblem(
                .question, name: address.name, reason: "what is searched is too long")
        }
        let document = try await document(try await response(client, address, timeout, []))
        return Self.page(of: document, question, from: place)
    }

    /// Asks for the first item of all, to see whether the service is well, and throws unless it answers this, or
    /// refuses it alone: nobody's search is sent again for that.
    func probe(_ client: HTTPClient?, _ parameters: QuestionParameters) async throws {
        guard let address = address.asking(parameters.values(of: ContentQuestion(limit: 1)))
        else { return }
        do {
            _ = try await document(try await response(client, address, timeout, []))
        } catch let problem as RemoteProblem where problem.cause == .question {
            // It may want to be asked for something.
        }
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
                Self.cause(response.status), name: address.name,
                reason: Self.reason(response.status), pause: response.wantedPause)
        }
        do {
            return try await mapping.document(response.body)
        } catch let problem as FormatProblem {
            throw RemoteProblem(.service, name: address.name, reason: "\(problem)")
        }
    }

    /// Whether a status is about what was asked, or about the service or who asks it.
    private static func cause(_ status: Int) -> RemoteProblem.Cause {
        switch status {
        case 401, 403, 407, 429: .service
        case 400..<500: .question
        default: .service
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 401, 403:
            "it answers \(status): it wants to know who asks; see the setting 'authorization'"
        case 407:
            "its proxy answers 407: it wants to know who asks; see the setting 'proxyAuthorization'"
        case 404, 410: "it answers \(status): there is no such document"
        case 429, 503: "it answers \(status): it is busy, and is left alone for a while"
        default: "it answers \(status)"
        }
    }

    private func response(
        _ client: HTTPClient?, _ address: Address, _ timeout: Duration, _ conditions: [String]
    ) async throws -> HTTPResponse {
        guard let client else {
            throw RemoteProblem(.service, name: address.name, reason: "libcurl can't be used")
        }
        do {
            return try await client.get(
                HTTPRequest(
                    address: address, headers: headers + conditions, proxy: proxy,
                    proxyHeaders: proxyHeaders, caFile: caFile, mostBytes: mostBytes,
                    timeout: timeout))
        } catch let failure as HTTPFailure {
            throw RemoteProblem(
                failure.cause == .time ? .time : .service, name: address.name,
                reason: reason(failure))
        }
    }

    private func reason(_ failure: HTTPFailure) -> String {
        switch failure.cause {
        case .network: NetworkWall.reason ?? failure.reason
        case .size:
            "\(failure.reason): more than the setting 'maxMegabytes' allows, \(mostBytes >> 20)"
        case .authority:
            "\(failure.reason); the setting 'caFile' names authorities that the system does not trust"
        case .time, .other: failure.reason
        }
    }
}
