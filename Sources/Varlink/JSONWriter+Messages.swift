internal import JSONCodec

extension JSONWriter {
    /// Writes a reply, without its NUL.
    mutating func writeReply(_ reply: some JSONWritable, continues: Bool) {
        beginObject()
        if continues {
            key("parameters")
            reply.write(to: &self)
            key("continues")
            bool(true)
        } else {
            writeParameters(reply)
        }
        endObject()
    }

    /// Writes an error, without its NUL.
    mutating func writeError(_ name: String, _ parameters: some JSONWritable) {
        beginObject()
        key("error")
        string(name)
        writeParameters(parameters)
        endObject()
    }

    /// Writes the member `parameters`, or nothing if it would be empty.
    ///
    /// Not to be used before another member: the writer does not know that nothing was written.
    mutating func writeParameters(_ parameters: some JSONWritable) {
        let start = bytes.count
        key("parameters")
        let value = bytes.count
        parameters.write(to: &self)
        // "{}"
        if bytes.count == value + 2, bytes[value] == UInt8(ascii: "{") {
            bytes.removeLast(bytes.count - start)
        }
    }
}
