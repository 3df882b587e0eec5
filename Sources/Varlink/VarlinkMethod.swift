public import JSONCodec

/// The parameters of a call, a reply or an error; written as a JSON object.
public protocol VarlinkCodable: JSONCodable, Sendable {}

/// A method: its name, and the types of its parameters and its reply.
public protocol VarlinkMethod: SendableMetatype {
    /// The parameters of a call.
    associatedtype Parameters: VarlinkCodable
    /// The parameters of a reply.
    associatedtype Reply: VarlinkCodable

    /// The method's full name, such as `org.example.ftl.Jump`.
    static var name: String { get }
}

/// An error that a service may reply with.
public protocol VarlinkErrorReply: VarlinkCodable, Error {
    /// The error's full name, such as `org.example.ftl.NotEnoughEnergy`.
    static var name: String { get }
}

/// An interface: a named set of methods and errors, with its description.
public protocol VarlinkInterface: SendableMetatype {
    /// The interface's name, such as `org.example.ftl`.
    static var name: String { get }

    /// Its text in the interface definition language, as `GetInterfaceDescription` returns it.
    static var description: String { get }

    /// The names of its methods, with or without the interface's. A service without a handler for a method
    /// replies to its calls with `MethodNotImplemented`.
    static var methodNames: [String] { get }

    /// The full names of the errors that it declares.
    static var errorNames: [String] { get }
}
