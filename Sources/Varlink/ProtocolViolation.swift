internal import JSONCodec

/// Why a message has no well-defined reply, so that its connection is closed.
enum ProtocolViolation: Error, CustomStringConvertible {
    case frameTooLong(limit: Int)
    case malformed(JSONError)
    case unknownMember(String)
    case missingMethod
    case flagNotBoolean(JSONError)
    case severalFlags
    /// A reply to a client has an error that continues, or that does not belong to the call.
    case unexpectedReply(String)

    var description: String {
        switch self {
        case .frameTooLong(let limit):
            "a message of more than \(limit) bytes, the most that one may have (limits.frameBytes)"
        case .malformed(let error):
            "a message that is no call or reply: \(error)"
        case .unknownMember(let name):
            "a message with the member '\(name.prefix(80))', which the protocol does not know; "
                + "extensions are named after their vendor, such as 'org.example'"
        case .missingMethod:
            "a call without a method"
        case .flagNotBoolean(let error):
            "a call with a flag that is neither true nor false: \(error)"
        case .severalFlags:
            "a call with more than one of oneway, more and upgrade"
        case .unexpectedReply(let what):
            what
        }
    }

    /// The kind as which the violation is counted.
    var kind: VarlinkViolation {
        switch self {
        case .frameTooLong: .messageTooLong
        case .malformed: .malformed
        case .unknownMember: .unknownMember
        case .missingMethod: .missingMethod
        case .flagNotBoolean: .flagNotBoolean
        case .severalFlags: .severalFlags
        case .unexpectedReply: .unexpectedReply
        }
    }
}
