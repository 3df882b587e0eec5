internal import JSONCodec

/// Calls as bytes.
enum CallFrame {
    /// A flag of a call; without one the call has one reply.
    enum Flag {
        case more
        case oneway
        case upgrade
    }

    /// Encodes a call, its NUL included.
    static func encode(_ method: String, _ parameters: some JSONWritable, flag: Flag?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("method")
        writer.string(method)
        switch flag {
        case .more:
            writer.key("more")
            writer.bool(true)
        case .oneway:
            writer.key("oneway")
            writer.bool(true)
        case .upgrade:
            writer.key("upgrade")
            writer.bool(true)
        case nil: break
        }
        writer.writeParameters(parameters)
        writer.endObject()
        writer.bytes.append(0)
        return writer.bytes
    }
}
