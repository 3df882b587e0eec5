import AtriumKit
import CCurl

/// Where a document is: a URL with the scheme http or https, as libcurl reads it.
struct Address: Sendable, Hashable {
    /// The URL, with a path at least.
    let text: String
    /// Scheme, host and port: what may be asked, wherever a service says that the document is.
    let origin: String

    /// The URL without its parameters, for messages: in these may stand what is nobody's business.
    var name: String { text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? text }

    /// Reads a URL.
    ///
    /// - Parameter text: With scheme and host.
    /// - Throws: ``SettingError`` for another scheme, no host, and a name or a password in it.
    init(_ text: String) throws(SettingError) {
        guard let parts = URLParts(text) else {
            throw SettingError("url", "expected a URL such as https://example.org/list.json")
        }
        guard let scheme = parts[CURLUPART_SCHEME], scheme == "http" || scheme == "https" else {
            throw SettingError(
                "url", "expected http:// or https://, found '\(parts[CURLUPART_SCHEME] ?? "")'")
        }
        guard parts[CURLUPART_USER] == nil, parts[CURLUPART_PASSWORD] == nil else {
            throw SettingError(
                "url", "a name or a password does not stand in it: see the setting 'authorization'")
        }
        guard let whole = parts[CURLUPART_URL], let host = parts[CURLUPART_HOST] else {
            throw SettingError("url", "expected a host in it, as in https://example.org/list.json")
        }
        self.init(text: whole, origin: "\(scheme)://\(host):\(parts.port)")
    }

    private init(text: String, origin: String) {
        self.text = text
        self.origin = origin
    }

    /// The same with parameters behind those that it has.
    ///
    /// - Parameter parameters: Names and values, which may have any characters.
    /// - Returns: The address; nil where there is no memory for it, or it were longer than libcurl takes.
    func asking(_ parameters: [(name: String, value: String)]) -> Address? {
        guard let parts = URLParts(text) else { return nil }
        for (name, value) in parameters where !parts.append("\(name)=\(value)") { return nil }
        return parts[CURLUPART_URL].map { Address(text: $0, origin: origin) }
    }

    /// Where a redirect leads, if it is of the same service; nil: it may not be followed.
    ///
    /// - Parameter location: What the service says, which may be a part of a URL.
    /// - Returns: The address there.
    func redirected(to location: String) -> Address? {
        guard let parts = URLParts(text), parts.move(to: location),
            let whole = parts[CURLUPART_URL], let other = try? Address(whole),
            other.origin == origin
        else { return nil }
        return other
    }
}

/// A URL in its parts.
private final class URLParts {
    private let handle: OpaquePointer

    init?(_ text: String) {
        guard let handle = curl_url() else { return nil }
        self.handle = handle
        // A scheme that is not known is to be named rather than the whole refused.
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        // Is for who shows a document, and is sent to no service.
        _ = curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
    }

    deinit { curl_url_cleanup(handle) }

    subscript(part: CURLUPart) -> String? { read(part, 0) }

    /// The port, which goes without saying in most URLs.
    var port: String { read(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) ?? "" }

    func append(_ parameter: String) -> Bool {
        let flags = UInt32(CURLU_APPENDQUERY | CURLU_URLENCODE)
        return curl_url_set(handle, CURLUPART_QUERY, parameter, flags) == CURLUE_OK
    }

    func move(to location: String) -> Bool {
        curl_url_set(handle, CURLUPART_URL, location, 0) == CURLUE_OK
    }

    private func read(_ part: CURLUPart, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
