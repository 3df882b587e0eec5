import CCurl
import Foundation

/// One request on its way; used on the thread of its ``Transfers`` alone.
final class Transfer {
    private static let mostHeaders = 100
    /// What OpenSSL says where nobody who is trusted has signed: X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT and those behind.
    private static let unknownIssuer = 18...21

    let handle: UnsafeMutableRawPointer
    let continuation: CheckedContinuation<HTTPResponse, any Error>
    private let mostBytes: Int
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let proxyHeaders: UnsafeMutablePointer<curl_slist>?
    /// What libcurl writes into it is what it says of a failure.
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var response = HTTPResponse(status: 0)
    private var isTooLong = false

    init?(_ request: HTTPRequest, _ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.continuation = continuation
        mostBytes = request.mostBytes
        let seconds = request.timeout.components
        let time = Int(seconds.seconds * 1_000 + seconds.attoseconds / 1_000_000_000_000_000)
        headers = Self.list(["Accept: application/json"] + request.headers)
        proxyHeaders = Self.list(request.proxyHeaders)
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        let this = Unmanaged.passUnretained(self).toOpaque()
        var codes = [
            curl_set_text(handle, CURLOPT_URL, request.address.text),
            curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
            curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
            curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
            curl_set_long(handle, CURLOPT_TIMEOUT_MS, time),
            curl_set_text(handle, CURLOPT_ACCEPT_ENCODING, ""),
            curl_set_text(handle, CURLOPT_USERAGENT, "atrium"),
            // None of the environment's: what is asked by whom is for the definition to say.
            curl_set_text(handle, CURLOPT_PROXY, request.proxy?.text ?? ""),
            // What is for the service is not for the proxy, nor the other way round.
            curl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)),
            curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers),
            curl_set_pointer(handle, CURLOPT_PROXYHEADER, proxyHeaders),
            curl_set_pointer(handle, CURLOPT_ERRORBUFFER, words),
            curl_set_pointer(handle, CURLOPT_WRITEDATA, this),
            curl_set_pointer(handle, CURLOPT_HEADERDATA, this),
            curl_set_take(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                Transfer.of(context)?.take(bytes, size * count) ?? 0
            },
            curl_set_take(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                Transfer.of(context)?.takeHeader(bytes, size * count) ?? 0
            },
        ]
        if let file = request.caFile { codes.append(curl_set_text(handle, CURLOPT_CAINFO, file)) }
        guard codes.allSatisfy({ $0 == CURLE_OK }) else { return nil }
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        curl_slist_free_all(proxyHeaders)
        words.deallocate()
    }

    private static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        lines.reduce(nil) { curl_slist_append($0, $1) }
    }

    func result(_ code: CURLcode) -> Result<HTTPResponse, any Error> {
        guard code == CURLE_OK else {
            if isTooLong {
                return .failure(HTTPFailure(cause: .size, reason: "the document is too large"))
            }
            return .failure(failure(code))
        }
        var status = 0
        curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        response.status = status
        return .success(response)
    }

    private func failure(_ code: CURLcode) -> HTTPFailure {
        let reason = String(cString: curl_easy_strerror(code))
        let said = String(cString: words)
        var proxyStatus = 0
        curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &proxyStatus)
        switch code {
        // A proxy refused to connect to a service that encrypts.
        case CURLE_RECV_ERROR where proxyStatus == 407:
            return HTTPFailure(
                cause: .other,
                reason: "its proxy answers 407: it wants to know who asks; see the setting "
                    + "'proxyAuthorization'")
        case CURLE_OPERATION_TIMEDOUT:
            var start: curl_off_t = 0
            curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T, &start)
            return start > 0 ? .late : HTTPFailure(cause: .network, reason: HTTPFailure.late.reason)
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return HTTPFailure(cause: .network, reason: reason)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            var verdict = 0
            curl_get_long(handle, CURLINFO_SSL_VERIFYRESULT, &verdict)
            return HTTPFailure(
                cause: Self.unknownIssuer.contains(verdict) ? .authority : .other,
                reason: said.isEmpty ? reason : said)
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE,
            CURLE_SSL_CONNECT_ERROR:
            return HTTPFailure(cause: .network, reason: said.isEmpty ? reason : said)
        default: return HTTPFailure(cause: .other, reason: said.isEmpty ? reason : said)
        }
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
