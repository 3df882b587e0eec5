public import JSONCodec

/// An error that a service replied to a call with.
public struct VarlinkRemoteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error's full name, such as `org.varlink.service.MethodNotFound`.
    public let name: String

    /// Its parameters.
    public let parameters: JSONObject

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - name: The error's full name.
    ///   - parameters: Its parameters; none by default.
    public init(name: String, parameters: JSONObject = .empty) {
        self.name = name
        self.parameters = parameters
    }

    /// Makes an error of a typed one, under the name that an interface declares it by.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - interface: The interface; where it declares no error of this name, `error` keeps its own.
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
    /// - Returns: The error; nil where this is another error, or its parameters are not those of the type.
    public func `as`<Failure: VarlinkErrorReply>(_ type: Failure.Type) -> Failure? {
        name == Failure.name ? parameters(as: type) : nil
    }

    /// Decodes the parameters; members that the type does not declare are skipped.
    ///
    /// - Parameter type: The type.
    /// - Returns: The parameters; nil where they are not those of the type.
    public func parameters<Parameters: VarlinkCodable>(as type: Parameters.Type) -> Parameters? {
        try? JSON.decode(type, from: parameters.bytes, allowsUnknownMembers: true)
    }

    /// The name, and the parameters as JSON.
    public var description: String { parameters.isEmpty ? name : "\(name) \(parameters)" }
}
