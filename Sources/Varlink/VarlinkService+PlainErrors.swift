public import JSONCodec

extension VarlinkService {
    /// The caller may not call this method.
    public struct PermissionDenied: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.PermissionDenied"

        /// The only value.
        public init() {}

        /// Reads the error, which has no parameters.
        ///
        /// - Parameter json: The reader.
        /// - Throws: `JSONError` where there are some.
        public init(json: inout JSONReader) throws(JSONError) {
            _ = try VarlinkNothing(json: &json)
        }

        /// Writes `{}`.
        ///
        /// - Parameter json: The writer.
        public func write(to json: inout JSONWriter) { VarlinkNothing().write(to: &json) }
    }

    /// The method can only be called with `more`.
    public struct ExpectedMore: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.ExpectedMore"

        /// The only value.
        public init() {}

        /// Reads the error, which has no parameters.
        ///
        /// - Parameter json: The reader.
        /// - Throws: `JSONError` where there are some.
        public init(json: inout JSONReader) throws(JSONError) {
            _ = try VarlinkNothing(json: &json)
        }

        /// Writes `{}`.
        ///
        /// - Parameter json: The writer.
        public func write(to json: inout JSONWriter) { VarlinkNothing().write(to: &json) }
    }

    /// The method can only be called with `upgrade`.
    public struct ExpectedUpgrade: VarlinkErrorReply, Hashable {
        /// The error's full name.
        public static let name = "org.varlink.service.ExpectedUpgrade"

        /// The only value.
        public init() {}

        /// Reads the error, which has no parameters.
        ///
        /// - Parameter json: The reader.
        /// - Throws: `JSONError` where there are some.
        public init(json: inout JSONReader) throws(JSONError) {
            _ = try VarlinkNothing(json: &json)
        }

        /// Writes `{}`.
        ///
        /// - Parameter json: The writer.
        public func write(to json: inout JSONWriter) { VarlinkNothing().write(to: &json) }
    }
}
