public import JSONCodec

/// The error that a service answered a call with.
public struct VarlinkRemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error's full name, such as `org.varlink.service.MethodNotFound`.
    public let name: String

    /// What it carries.
    public let parameters: JSONObject

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - name: The error's full name.
    ///   - parameters: What it carries; nothing by default.
    public init(name: String, parameters: JSONObject = .empty) {
        self.name = name
        self.parameters = parameters
    }

    /// The error as a type, such as `error.as(VarlinkService.MethodNotFound.self)?.method`.
    ///
    /// - Parameter type: The type.
    /// - Returns: The error; nil if this is another one, or carries what the type can't.
    public func `as`<Failure: VarlinkErrorReply>(_ type: Failure.Type) -> Failure? {
        guard name == Failure.name else { return nil }
        return try? JSON.decode(
            Failure.self, from: parameters.bytes, allowsUnknownMembers: true)
    }

    /// The name, and what it carries as JSON.
    public var description: String { parameters.isEmpty ? name : "\(name) \(parameters)" }
}
