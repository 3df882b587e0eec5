public import JSONCodec

extension VarlinkService {
    /// The service has no such interface.
    public struct InterfaceNotFound: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.InterfaceNotFound"
        /// The interface that the call named.
        public var interface: String

        /// - Parameter interface: The interface that the call named.
        public init(interface: String) { self.interface = interface }

        /// Reads the error's parameters.
        public init(json: inout JSONReader) throws(JSONError) {
            interface = try json.readOnly("interface")
        }

        /// Writes the error's parameters.
        public func write(to json: inout JSONWriter) { json.writeOnly("interface", interface) }
    }

    /// The interface has no such method.
    public struct MethodNotFound: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.MethodNotFound"
        /// The method that was called.
        public var method: String

        /// - Parameter method: The method that was called.
        public init(method: String) { self.method = method }

        /// Reads the error's parameters.
        public init(json: inout JSONReader) throws(JSONError) {
            method = try json.readOnly("method")
        }

        /// Writes the error's parameters.
        public func write(to json: inout JSONWriter) { json.writeOnly("method", method) }
    }

    /// The interface has the method, and the service does not implement it.
    public struct MethodNotImplemented: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.MethodNotImplemented"
        /// The method that was called.
        public var method: String

        /// - Parameter method: The method that was called.
        public init(method: String) { self.method = method }

        /// Reads the error's parameters.
        public init(json: inout JSONReader) throws(JSONError) {
            method = try json.readOnly("method")
        }

        /// Writes the error's parameters.
        public func write(to json: inout JSONWriter) { json.writeOnly("method", method) }
    }

    /// A parameter is missing, undeclared, or of the wrong type or value.
    public struct InvalidParameter: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.InvalidParameter"
        /// The parameter, or the path to the wrong value in it, such as `items[3].id`.
        public var parameter: String

        /// - Parameter parameter: The parameter, or the path to the wrong value in it.
        public init(parameter: String) { self.parameter = parameter }

        /// Reads the error's parameters.
        public init(json: inout JSONReader) throws(JSONError) {
            parameter = try json.readOnly("parameter")
        }

        /// Writes the error's parameters.
        public func write(to json: inout JSONWriter) { json.writeOnly("parameter", parameter) }
    }

    /// The caller may not call this method.
    public struct PermissionDenied: VarlinkErrorReply, VarlinkEmpty, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.PermissionDenied"

        /// The only value.
        public init() {}
    }

    /// The method can only be called with `more`.
    public struct ExpectedMore: VarlinkErrorReply, VarlinkEmpty, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.ExpectedMore"

        /// The only value.
        public init() {}
    }

    /// The method can only be called with `upgrade`.
    public struct ExpectedUpgrade: VarlinkErrorReply, VarlinkEmpty, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.ExpectedUpgrade"

        /// The only value.
        public init() {}
    }
}
