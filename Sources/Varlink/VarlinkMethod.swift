public import JSONCodec

/// What a call, a reply or an error carries; it writes itself as an object.
public protocol VarlinkCodable: JSONCodable, Sendable {}

/// A method: what it is called, what it takes, what it answers.
public protocol VarlinkMethod: SendableMetatype {
    /// What a call carries.
    associatedtype Parameters: VarlinkCodable
    /// What a reply carries.
    associatedtype Reply: VarlinkCodable

    /// The method's full name, such as `org.example.ftl.Jump`.
    static var name: String { get }
}

/// An error that a method may be answered with.
public protocol VarlinkErrorReply: VarlinkCodable, Error {
    /// The error's full name, such as `org.example.ftl.NotEnoughEnergy`.
    static var name: String { get }
}

/// An interface: a named set of methods with its description.
public protocol VarlinkInterface: SendableMetatype {
    /// The interface's name, such as `org.example.ftl`.
    static var name: String { get }

    /// Its text in the interface definition language, as it is told to clients.
    static var description: String { get }

    /// The names of its methods, full or without the interface's. A call of one that has no
    /// handler is answered with `MethodNotImplemented`.
    static var methodNames: [String] { get }

    /// The full names of the errors that it declares.
    static var errorNames: [String] { get }
}
