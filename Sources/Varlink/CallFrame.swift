internal import JSONCodec

/// Calls as bytes.
enum CallFrame {
    /// What a call may ask for besides one reply.
    enum Flag {
        case more
        case oneway
    }

    /// Encodes a call, its NUL included.
    static func encode(_ method: String, _ parameters: some JSONWritable, flag: Flag?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("method")
        writer.string(method)
        writer.key("parameters")
        parameters.write(to: &writer)
        switch flag {
        case .more:
            writer.key("more")
            writer.bool(true)
        case .oneway:
            writer.key("oneway")
            writer.bool(true)
        case nil: break
        }
        writer.endObject()
        writer.bytes.append(0)
        return writer.bytes
    }
}
