public import JSONCodec

extension VarlinkService {
    /// Returns the service's vendor, product and version, and the names of the interfaces that it implements.
    public enum GetInfo: VarlinkMethod {
        /// The method's full name.
        public static let name = "org.varlink.service.GetInfo"

        /// The method takes nothing.
        public typealias Parameters = VarlinkNothing

        /// The description of a service.
        public struct Reply: VarlinkCodable, Hashable {
            /// The name of the vendor.
            public var vendor = ""
            /// The name of the product.
            public var product = ""
            /// Its version.
            public var version = ""
            /// The address of the documentation.
            public var url = ""
            /// The names of its interfaces.
            public var interfaces: [String] = []

            /// A reply whose members are empty.
            public init() {}

            /// Reads the reply.
            public init(json: inout JSONReader) throws(JSONError) {
                var others = JSONKeySet()
                var found = (false, false, false, false, false)
                try json.beginObject()
                while let key = try json.nextKey() {
                    switch key {
                    case "vendor": vendor = try json.readString(unlessSeen: &found.0, key)
                    case "product": product = try json.readString(unlessSeen: &found.1, key)
                    case "version": version = try json.readString(unlessSeen: &found.2, key)
                    case "url": url = try json.readString(unlessSeen: &found.3, key)
                    case "interfaces" where !found.4:
                        found.4 = true
                        interfaces = try [String](json: &json)
                    default: try json.skipUnknownMember(key, among: &others)
                    }
                }
                guard found.4 else { throw json.missingMember("interfaces") }
            }

            /// Writes the reply.
            public func write(to json: inout JSONWriter) {
                json.beginObject()
                json.key("vendor")
                json.string(vendor)
                json.key("product")
                json.string(product)
                json.key("version")
                json.string(version)
                json.key("url")
                json.string(url)
                json.key("interfaces")
                interfaces.write(to: &json)
                json.endObject()
            }
        }
    }

    /// The text of an interface.
    public enum GetInterfaceDescription: VarlinkMethod {
        /// The method's full name.
        public static let name = "org.varlink.service.GetInterfaceDescription"

        /// The interface to describe.
        public struct Parameters: VarlinkCodable, Hashable {
            /// The interface's name.
            public var interface: String

            /// - Parameter interface: The interface's name.
            public init(interface: String) { self.interface = interface }

            /// Reads the parameters.
            public init(json: inout JSONReader) throws(JSONError) {
                interface = try json.readOnly("interface")
            }

            /// Writes the parameters.
            public func write(to json: inout JSONWriter) { json.writeOnly("interface", interface) }
        }

        /// The interface's text.
        public struct Reply: VarlinkCodable, Hashable {
            /// The text, in the interface definition language.
            public var description: String

            /// - Parameter description: The text.
            public init(description: String) { self.description = description }

            /// Reads the reply.
            public init(json: inout JSONReader) throws(JSONError) {
                description = try json.readOnly("description")
            }

            /// Writes the reply.
            public func write(to json: inout JSONWriter) {
                json.writeOnly("description", description)
            }
        }
    }
}

extension JSONReader {
    /// Reads an object whose one declared member is a string.
    mutating func readOnly(_ name: StaticString) throws(JSONError) -> String {
        var others = JSONKeySet()
        var result: String?
        try beginObject()
        while let key = try nextKey() {
            guard key == name else {
                try skipUnknownMember(key, among: &others)
                continue
            }
            guard result == nil else { throw duplicateMember(key) }
            result = try readString()
        }
        guard let result else { throw missingMember(name.description) }
        return result
    }

    fileprivate mutating func readString(
        unlessSeen seen: inout Bool, _ key: JSONKey
    ) throws(JSONError) -> String {
        guard !seen else { throw duplicateMember(key) }
        seen = true
        return try readString()
    }
}

extension JSONWriter {
    /// Writes an object whose one member is a string.
    mutating func writeOnly(_ name: StaticString, _ value: String) {
        beginObject()
        key(name)
        string(value)
        endObject()
    }
}
