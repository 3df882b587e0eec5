public import JSONCodec

/// `org.varlink.service`: the methods by which every service describes itself, and the protocol's errors.
public enum VarlinkService: VarlinkInterface {
    /// The interface's name.
    public static let name = "org.varlink.service"

    /// Its text.
    public static let description = """
        # What a service says about itself, and the errors any method may be answered with.
        interface org.varlink.service

        # Who made the service, its version, and the names of the interfaces it implements.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The text of an interface.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The service has no such interface.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface has the method, the service does not implement it.
        error MethodNotImplemented (method: string)

        # A parameter is missing, undeclared, or of the wrong type or value.
        error InvalidParameter (parameter: string)

        # The caller may not call this method.
        error PermissionDenied ()

        # The method can only be called with more.
        error ExpectedMore ()

        # The method can only be called with upgrade.
        error ExpectedUpgrade ()

        """

    /// The names of its methods.
    public static let methodNames = [GetInfo.name, GetInterfaceDescription.name]

    /// The full names of its errors.
    public static let errorNames = [
        InterfaceNotFound.name, MethodNotFound.name, MethodNotImplemented.name,
        InvalidParameter.name, PermissionDenied.name, ExpectedMore.name, ExpectedUpgrade.name,
    ]
}

/// Parameters of which there are none, written as `{}`: those of a method or a reply, or an error.
public protocol VarlinkEmpty: VarlinkCodable {
    /// The only value.
    init()
}

extension VarlinkEmpty {
    /// Reads an object without members.
    public init(json: inout JSONReader) throws(JSONError) {
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() { try json.skipUnknownMember(key, among: &others) }
        self.init()
    }

    /// Writes `{}`.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.endObject()
    }
}

/// The parameters of methods and replies that have none.
public struct VarlinkNothing: VarlinkEmpty, Hashable {
    /// The only value.
    public init() {}
}
