import AtriumKit
import CCurl

/// Where a document is: a URL with the scheme http or https, as libcurl reads it.
struct Address: Sendable, Hashable {
    /// The URL, with a path at least.
    let text: String
    /// Scheme, host and port: what may be asked, wherever a service says that the document is.
    let origin: Origin

    /// Scheme, host and port of a URL.
    struct Origin: Sendable, Hashable, CustomStringConvertible {
        let scheme: String
        let host: String
        let port: String
        /// Whether the port goes without saying.
        let isPortDefault: Bool

        /// As people write it.
        var description: String { "\(scheme)://\(host)\(isPortDefault ? "" : ":\(port)")" }

        /// Whether the other one is this one with encryption: on the same port, or on the usual one of each.
        func isUpgraded(to other: Origin) -> Bool {
            scheme == "http" && other.scheme == "https" && host == other.host
                && (port == other.port || (isPortDefault && other.isPortDefault))
        }
    }

    /// The URL without its parameters, which may contain secrets, for messages.
    var name: String { text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? text }

    /// Reads a URL; throws for another scheme, no host, and a name or a password in it.
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
        self.init(
            text: whole,
            origin: Origin(
                scheme: scheme, host: host.lowercased(), port: parts.port,
                isPortDefault: parts.port == (scheme == "https" ? "443" : "80")))
    }

    private init(text: String, origin: Origin) {
        self.text = text
        self.origin = origin
    }

    /// The same with parameters behind those that it has; nil where there is no memory for it, or it were longer than
    /// libcurl takes.
    func asking(_ parameters: [(name: String, value: String)]) -> Address? {
        guard let parts = URLParts(text) else { return nil }
        for (name, value) in parameters where !parts.append("\(name)=\(value)") { return nil }
        return parts[CURLUPART_URL].map { Address(text: $0, origin: origin) }
    }

    /// Where a redirect leads: to the same scheme, host and port, or from http to https on the same host.
    ///
    /// - Parameter location: What the service says, which may be a part of a URL; nil: it says nothing.
    /// - Returns: The address there.
    /// - Throws: ``HTTPFailure`` that says why it is not followed. Of the place it names no path: what people search may
    ///   stand in it.
    func redirected(to location: String?) throws(HTTPFailure) -> Address {
        guard let location, !location.isEmpty else {
            throw HTTPFailure(
                cause: .other,
                reason: "it answers with a redirect without 'Location'")
        }
        guard let parts = URLParts(text), parts.move(to: location),
            let whole = parts[CURLUPART_URL], let other = try? Address(whole)
        else {
            throw HTTPFailure(
                cause: .other,
                reason:
                    "it answers with a redirect to a URL that is not allowed: only http and https without "
                    + "user and password are")
        }
        guard other.origin == origin || origin.isUpgraded(to: other.origin) else {
            let what =
                if other.origin.host != origin.host {
                    "on another host"
                } else if other.origin.scheme != origin.scheme, origin.scheme == "https" {
                    "on the same host without encryption"
                } else {
                    "on another port"
                }
            throw HTTPFailure(
                cause: .other,
                reason:
                    "it answers with a redirect to \(other.origin), \(what), which is not followed; "
                    + "to allow it, write that address into the setting 'url'")
        }
        return other
    }
}

/// Another machine that asks the service.
struct Proxy: Sendable, Hashable {
    /// Its URL.
    let text: String

    /// Reads a proxy's URL.
    ///
    /// - Parameter text: `http://host:port`, or with https.
    /// - Throws: ``SettingError`` for another scheme, no host, and a name or a password in it. It quotes nothing: a
    ///   password may stand anywhere in what is no URL.
    init(_ text: String) throws(SettingError) {
        guard let parts = URLParts(text), let scheme = parts[CURLUPART_SCHEME],
            scheme == "http" || scheme == "https", parts[CURLUPART_HOST] != nil
        else { throw SettingError("proxy", "expected http://host:port or https://host:port") }
        guard parts[CURLUPART_USER] == nil, parts[CURLUPART_PASSWORD] == nil else {
            throw SettingError(
                "proxy",
                "a name or a password does not stand in it: see the setting 'proxyAuthorization'")
        }
        self.text = text
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
