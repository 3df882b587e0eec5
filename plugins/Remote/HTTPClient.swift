import CCurl
import Foundation
import Synchronization

/// What a service is asked.
struct HTTPRequest: Sendable {
    var address: Address
    /// `Name: value` each.
    var headers: [String]
    /// Where another machine asks instead; nil: nowhere.
    var proxy: String?
    /// How many bytes of a document are read, once they are unpacked.
    var mostBytes: Int
    /// How long all of it may take.
    var timeout: Duration
}

/// What a service answered.
struct HTTPResponse: Sendable {
    var status: Int
    /// By name in lower case; of several with a name the last.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
}

/// Why there is no answer.
struct HTTPFailure: Error, Sendable, Hashable {
    enum Cause: Sendable {
        /// Nobody could be reached.
        case network
        /// There is more of a document than is read.
        case size
        /// Anything else.
        case other
    }

    var cause: Cause
    var reason: String
}

/// Asks services by HTTP, many at a time, on one thread of its own.
///
/// Who asks waits for the answer without holding a thread. A request ends by its time-out at the latest; all that
/// are open fail when the client is let go.
final class HTTPClient: Sendable {
    private static let mostRedirects = 5

    private let transfers: Transfers

    /// A client that has asked nobody so far; nil where libcurl can't be set up.
    init?() {
        guard let transfers = Transfers() else { return nil }
        self.transfers = transfers
        Thread.detachNewThread { transfers.run() }
    }

    deinit { transfers.end() }

    /// Asks, and follows redirects as long as they stay with the service.
    ///
    /// - Parameter request: What to ask.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``HTTPFailure``.
    func get(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        for _ in 0...Self.mostRedirects {
            let response = try await transfers.get(request)
            guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
            guard let next = request.address.redirected(to: response.headers["location"] ?? "")
            else {
                throw HTTPFailure(
                    cause: .other,
                    reason: "it answers that the document is on another host, which is not asked")
            }
            request.address = next
        }
        throw HTTPFailure(
            cause: .other, reason: "it answers \(Self.mostRedirects) times to ask elsewhere")
    }
}

/// The requests that are on their way, and the thread on which libcurl works for them.
private final class Transfers: Sendable {
    /// What is yet to be begun.
    private struct Inbox {
        var asked: [(HTTPRequest, CheckedContinuation<HTTPResponse, any Error>)] = []
        var isEnding = false
    }

    /// libcurl's own state: only the thread of ``run()`` uses it, and `curl_multi_wakeup`, which any thread may call
    /// that holds the lock and found that it does not end.
    private struct Multi: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer
    }

    /// How long the thread sleeps when nothing happens.
    private static let patience: Int32 = 60_000
    /// Sets libcurl up, once in a process.
    private static let isUsable = curl_global_init(Int(CURL_GLOBAL_SSL)) == CURLE_OK

    private let multi: Multi
    private let inbox = Mutex(Inbox())

    init?() {
        guard Self.isUsable, let handle = curl_multi_init() else { return nil }
        multi = Multi(handle: handle)
    }

    func get(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { continuation in
            let isEnding = inbox.withLock {
                guard !$0.isEnding else { return true }
                $0.asked.append((request, continuation))
                curl_multi_wakeup(multi.handle)
                return false
            }
            if isEnding { continuation.resume(throwing: Self.ended) }
        }
    }

    func end() {
        inbox.withLock {
            $0.isEnding = true
            curl_multi_wakeup(multi.handle)
        }
    }

    /// Works until ``end()`` was called.
    func run() {
        var open: [UnsafeMutableRawPointer: Transfer] = [:]
        while true {
            let (asked, isEnding) = inbox.withLock { inbox in
                defer { inbox.asked = [] }
                return (inbox.asked, inbox.isEnding)
            }
            for (request, continuation) in asked {
                let transfer = Transfer(request, continuation)
                guard let transfer, curl_multi_add_handle(multi.handle, transfer.handle) == CURLM_OK
                else {
                    continuation.resume(
                        throwing: HTTPFailure(cause: .other, reason: "there is no memory for it"))
                    continue
                }
                open[transfer.handle] = transfer
            }
            if isEnding { break }
            var running: Int32 = 0
            curl_multi_perform(multi.handle, &running)
            finish(&open)
            curl_multi_poll(multi.handle, nil, 0, Self.patience, nil)
        }
        for transfer in open.values {
            curl_multi_remove_handle(multi.handle, transfer.handle)
            transfer.continuation.resume(throwing: Self.ended)
        }
        open = [:]
        // Whoever said that it ends may still be waking it; from then on nobody does.
        inbox.withLock { _ in _ = curl_multi_cleanup(multi.handle) }
    }

    private func finish(_ open: inout [UnsafeMutableRawPointer: Transfer]) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let transfer = open.removeValue(forKey: handle)
            else { continue }
            let code = curl_result_of(message)
            curl_multi_remove_handle(multi.handle, handle)
            transfer.continuation.resume(with: transfer.result(code))
        }
    }

    private static var ended: HTTPFailure {
        HTTPFailure(cause: .other, reason: "nobody asks any more")
    }
}

/// One request on its way; used on the thread of its ``Transfers`` alone.
private final class Transfer {
    private static let mostHeaders = 100

    let handle: UnsafeMutableRawPointer
    let continuation: CheckedContinuation<HTTPResponse, any Error>
    private let mostBytes: Int
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var response = HTTPResponse(status: 0)
    private var isTooLong = false

    init?(_ request: HTTPRequest, _ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.continuation = continuation
        mostBytes = request.mostBytes
        let seconds = request.timeout.components
        let time = Int(seconds.seconds * 1_000 + seconds.attoseconds / 1_000_000_000_000_000)
        var headers: UnsafeMutablePointer<curl_slist>?
        for header in ["Accept: application/json"] + request.headers {
            headers = curl_slist_append(headers, header)
        }
        self.headers = headers
        let this = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            curl_set_text(handle, CURLOPT_URL, request.address.text),
            curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            curl_set_long(handle, CURLOPT_TIMEOUT_MS, time),
            curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, ""),
            curl_set_text(handle, CURLOPT_USERAGENT, "atrium"),
            // None of the environment's: what is asked by whom is for the definition to say.
            curl_set_text(handle, CURLOPT_PROXY, request.proxy ?? ""),
            curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers),
            curl_set_pointer(handle, CURLOPT_WRITEDATA, this),
            curl_set_pointer(handle, CURLOPT_HEADERDATA, this),
            curl_set_take(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                Transfer.of(context)?.take(bytes, size * count) ?? 0
            },
            curl_set_take(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                Transfer.of(context)?.takeHeader(bytes, size * count) ?? 0
            },
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
    }

    func result(_ code: CURLcode) -> Result<HTTPResponse, any Error> {
        guard code == CURLE_OK else {
            if isTooLong {
                return .failure(HTTPFailure(cause: .size, reason: "the document is too large"))
            }
            let isOfNetwork = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST
            let reason =
                code == CURLE_OPERATION_TIMEDOUT
                ? "it did not answer in time" : String(cString: curl_easy_strerror(code))
            return .failure(HTTPFailure(cause: isOfNetwork ? .network : .other, reason: reason))
        }
        var status = 0
        curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        response.status = status
        return .success(response)
    }

    /// The transfer that libcurl was given; it lasts as long as libcurl calls.
    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes bytes of the document; fewer than there are end the transfer.
    private func take(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard response.body.count + count <= mostBytes else {
            isTooLong = true
            return 0
        }
        response.body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func takeHeader(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let line = String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            response.headers = [:]
        } else if let colon = line.firstIndex(of: ":"), response.headers.count < Self.mostHeaders {
            let value = line[line.index(after: colon)...]
            response.headers[line[..<colon].lowercased()] = value.trimmingCharacters(
                in: .whitespacesAndNewlines)
        }
        return count
    }
}
