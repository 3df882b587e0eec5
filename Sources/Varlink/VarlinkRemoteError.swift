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

    /// Makes an error of a type, under the name that an interface declares it by.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - interface: An interface; where it declares no error of this name, the one of `error` counts.
    public init<Failure: VarlinkErrorReply>(
        _ error: Failure, of interface: any VarlinkInterface.Type
    ) {
        let word = Failure.name.split(separator: ".").last ?? ""
        let name = "\(interface.name).\(word)"
        self.init(
            name: interface.errorNames.contains(name) ? name : Failure.name,
            parameters: JSONObject(writing: error) ?? .empty)
    }

    /// The error as a type, such as `error.as(VarlinkService.MethodNotFound.self)?.method`.
    ///
    /// - Parameter type: The type.
    /// - Returns: The error; nil if this is another one, or carries what the type can't.
    public func `as`<Failure: VarlinkErrorReply>(_ type: Failure.Type) -> Failure? {
        name == Failure.name ? parameters(as: type) : nil
    }

    /// What the error carries, as a type; members that the type does not declare are skipped.
    ///
    /// - Parameter type: The type.
    /// - Returns: The parameters; nil where the type can't hold them.
    public func parameters<Parameters: VarlinkCodable>(as type: Parameters.Type) -> Parameters? {
        try? JSON.decode(type, from: parameters.bytes, allowsUnknownMembers: true)
    }

    /// The name, and what it carries as JSON.
    public var description: String { parameters.isEmpty ? name : "\(name) \(parameters)" }
}
