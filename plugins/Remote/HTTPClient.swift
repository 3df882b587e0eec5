import CCurl
import Foundation
import Synchronization

/// What a service is asked.
struct HTTPRequest: Sendable {
    var address: Address
    /// `Name: value` each.
    var headers: [String]
    /// The proxy; nil: none.
    var proxy: Proxy?
    /// `Name: value` each, only for the proxy.
    var proxyHeaders: [String] = []
    /// A file of trusted certificates in addition to the system's; nil: only the system's.
    var caFile: String?
    /// How many bytes of a document are read, once they are unpacked.
    var mostBytes: Int
    /// How long all of it may take, with all redirects.
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
        /// Who could be reached did not answer in time.
        case time
        /// Who answers has a certificate of an authority that is not trusted, as far as that is known.
        case authority
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

    /// Asks, and follows redirects as long as they stay with the service; returns the answer, whatever its status.
    func get(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        let end = ContinuousClock.now + request.timeout
        for _ in 0...Self.mostRedirects {
            let response = try await transfers.get(request)
            guard [301, 302, 303, 307, 308].contains(response.status) else { return response }
            request.address = try request.address.redirected(to: response.headers["location"])
            // One time for all: the host waits no longer.
            request.timeout = end - .now
            guard request.timeout >= .milliseconds(1) else { throw HTTPFailure.late }
        }
        throw HTTPFailure(
            cause: .other, reason: "it answers \(Self.mostRedirects) times to ask elsewhere")
    }
}

extension HTTPFailure {
    /// Nobody answered in time, although somebody could be reached.
    static let late = HTTPFailure(cause: .time, reason: "it did not answer in time")
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
