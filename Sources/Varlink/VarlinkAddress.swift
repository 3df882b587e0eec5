/// The address of a service: `unix:/run/org.example.ftl`, `unix:@org.example.ftl`, or only a path.
public enum VarlinkAddress: Sendable, Hashable, CustomStringConvertible {
    /// A socket at a path.
    case path(String)

    /// A socket in Linux' abstract namespace, by its name without the `@`.
    case abstract(String)

    /// Parses an address.
    ///
    /// Properties after a `;` are ignored, as the standard requires.
    ///
    /// - Parameter text: The address.
    /// - Throws: ``VarlinkConnectionError`` of the kind `other` for an address that is no Unix socket's, such as
    ///   `tcp:`.
    public init(_ text: String) throws(VarlinkConnectionError) {
        guard let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") else {
            self = .path(text)
            return
        }
        guard text[..<colon] == "unix" else {
            throw VarlinkConnectionError(
                .other,
                "'\(text)' is no address that can be connected to: unix:PATH or unix:@NAME is")
        }
        let rest = text[text.index(after: colon)...].prefix { $0 != ";" }
        guard rest.count > (rest.first == "@" ? 1 : 0) else {
            throw VarlinkConnectionError(.other, "'\(text)' names no socket after unix:")
        }
        self = rest.first == "@" ? .abstract(String(rest.dropFirst())) : .path(String(rest))
    }

    /// The address, such as `unix:@org.example.ftl`; a path alone stays one.
    public var description: String {
        switch self {
        case .path(let path): path
        case .abstract(let name): "unix:@\(name)"
        }
    }
}
