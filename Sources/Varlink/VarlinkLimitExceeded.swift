public import JSONCodec

/// A peer has exceeded one of the server's ``VarlinkLimits``.
///
/// The server sends it before it closes a connection: one too many, or one whose peer sent too long a message
/// or took too long for one. It also replies with it to a call for which the peer's user has no bytes left; that
/// call was not carried out. It is sent after the replies to earlier calls, and not to a peer that does not read.
public struct VarlinkLimitExceeded: VarlinkErrorReply, Hashable {
    /// The error's full name.
    public static let name = "org.atrium.Varlink.LimitExceeded"

    /// The limit's name, as in ``VarlinkLimits``.
    public var limit: String

    /// The limit's value: a number, bytes, or seconds.
    public var value: Int

    /// A sentence that says which limit was exceeded.
    public var message: String

    /// - Parameters:
    ///   - limit: The limit's name.
    ///   - value: Its value.
    ///   - message: A sentence that says which limit was exceeded.
    public init(limit: String, value: Int, message: String) {
        self.limit = limit
        self.value = value
        self.message = message
    }

    /// Reads the error's parameters.
    public init(json: inout JSONReader) throws(JSONError) {
        var others = JSONKeySet()
        var (limit, value, message) = (String?.none, Int?.none, String?.none)
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "limit" where limit == nil: limit = try json.readString()
            case "value" where value == nil: value = try json.readInt()
            case "message" where message == nil: message = try json.readString()
            case "limit", "value", "message": throw json.duplicateMember(key)
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let limit else { throw json.missingMember("limit") }
        guard let value else { throw json.missingMember("value") }
        self.init(limit: limit, value: value, message: message ?? "")
    }

    /// Writes the error's parameters.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("limit")
        json.string(limit)
        json.key("value")
        json.int(value)
        json.key("message")
        json.string(message)
        json.endObject()
    }
}
