internal import JSONCodec

/// A reply's frame, parsed; it points into the frame and is valid as long as that is.
struct ReplyHeader {
    /// The parameters' text; nil when they are absent or null.
    private(set) var parameters: UnsafeRawBufferPointer?
    private(set) var continues = false
    private(set) var error: String?

    private var extensions = JSONKeySet()
    private var unknownMember: String?

    /// Parses a frame, whose parameters may nest up to `nesting` levels.
    init(_ bytes: UnsafeRawBufferPointer, nesting: Int) throws(ProtocolViolation) {
        do throws(JSONError) {
            var reader = JSONReader(bytes, depthLimit: nesting + 1)
            try read(&reader)
        } catch {
            throw .malformed(error)
        }
        if let unknownMember { throw .unknownMember(unknownMember) }
        guard !(continues && error != nil) else {
            throw .unexpectedReply("an error that is said to continue")
        }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONError) {
        var seen = (parameters: false, continues: false, error: false)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "parameters" where !seen.parameters:
                seen.parameters = true
                try readParameters(&reader)
            case "continues" where !seen.continues:
                seen.continues = true
                continues = try reader.readNull() ? false : reader.readBool()
            case "error" where !seen.error:
                seen.error = true
                error = try String?(json: &reader)
            case "parameters", "continues", "error":
                throw reader.duplicateMember(key)
            default:
                let name = key.string
                if !name.utf8.contains(UInt8(ascii: ".")) { unknownMember = unknownMember ?? name }
                guard extensions.insert(key) else { throw reader.duplicateMember(key) }
                try reader.skipValue()
            }
        }
        try reader.end()
    }

    private mutating func readParameters(_ reader: inout JSONReader) throws(JSONError) {
        guard try !reader.readNull() else { return }
        guard try reader.peek() == .object else {
            // Throws the reader's error, which names position and type.
            return try reader.beginObject()
        }
        parameters = try reader.rawValue()
    }
}
