internal import Glibc
internal import JSONCodec
internal import NIOCore

// Messages as bytes: the frames that they arrive in, the headers of calls and replies, and how both are written.

/// Cuts the bytes that arrive into frames, however they were split or joined on the way.
struct FrameBuffer {
    private var buffer = ByteBuffer()

    /// The number of the buffer's first bytes that were searched and contain no NUL.
    private var searched = 0

    /// The maximum number of bytes in a frame, without its NUL.
    var limit: Int

    /// - Parameter limit: Bytes in a frame, without its NUL.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes that are not cut into frames yet.
    var count: Int { buffer.readableBytes }

    /// The bytes that are not cut into frames yet.
    var waiting: ByteBufferView { buffer.readableBytesView }

    /// Adds bytes that have arrived.
    ///
    /// If the buffer is empty, which is the usual case, it takes over their memory.
    mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            searched = 0
            return
        }
        var bytes = bytes
        buffer.discardReadBytes()
        buffer.writeBuffer(&bytes)
    }

    /// The next whole frame, without its NUL; nil when it has not arrived yet.
    mutating func next() throws(ProtocolViolation) -> ByteBuffer? {
        guard let length = distanceToEnd() else {
            searched = buffer.readableBytes
            guard searched <= limit else { throw .frameTooLong(limit: limit) }
            return nil
        }
        guard length <= limit else { throw .frameTooLong(limit: limit) }
        let frame = buffer.readSlice(length: length)
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        // Gives the memory back; the frame keeps its own hold on it.
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return frame
    }

    /// Drops all bytes.
    mutating func removeAll() {
        buffer = ByteBuffer()
        searched = 0
    }

    /// Removes and returns the bytes not yet cut into frames.
    mutating func takeAll() -> ByteBuffer {
        defer { removeAll() }
        return buffer
    }

    private func distanceToEnd() -> Int? {
        let searched = searched
        return buffer.withUnsafeReadableBytes { bytes in
            guard bytes.count > searched, let base = bytes.baseAddress,
                let end = memchr(base + searched, 0, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(end) - base
        }
    }
}

// MARK: Reading

/// The header of a call, parsed from its frame: the method, the flags, and the place of the parameters.
///
/// It points into the frame and is valid only as long as that. The whole frame was checked to be JSON, so later errors
/// in the parameters are errors of their types; except where less was checked, see ``Check``.
struct CallHeader {
    /// The method's name: the bytes between the quotes, which hold no escapes.
    private(set) var method = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The method's name where it was written with escapes, which no known client does.
    private(set) var escapedMethod: String?

    /// The parameters' text; nil when they are absent or null.
    private(set) var parameters: UnsafeRawBufferPointer?

    /// The text from which absent parameters are read.
    ///
    /// A literal: its memory lives as long as the program.
    static var noParameters: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private(set) var isOneway = false
    private(set) var wantsMore = false
    private(set) var wantsUpgrade = false

    /// How parameters and extensions are checked.
    enum Check {
        /// To be JSON that can be read.
        case all
        /// To be JSON, whether or not it is within the limits of what can be read.
        case grammar
        /// Not at all: only their ends are found. To check them takes a hundred times longer if they consist of many
        /// members.
        case nothing
    }

    let check: Check

    /// The maximum number of bytes in the names of vendors' members, and in a long message in those of all members and of
    /// the method, as they are written.
    private static let longestName = 255
    /// Nesting that is deep enough for whatever is to be refused later, by a lower limit.
    static let deepest = 1_023
    /// The maximum number of members that belong to vendors.
    private static let mostExtensions = 64

    private var seen: Members = []
    private var extensions = JSONKeySet()
    private var extensionCount = 0
    private var unknownMember: String?

    /// Parses a frame, without its NUL, whose parameters may nest up to `nesting` levels; throws what is wrong with
    /// it.
    init(
        _ bytes: UnsafeRawBufferPointer, nesting: Int, check: Check = .all
    ) throws(ProtocolViolation) {
        self.check = check
        do throws(JSONError) {
            var reader = JSONReader(bytes, depthLimit: nesting + 1)
            // In a short message no name is long.
            if check != .all { reader.longestText = Self.longestName }
            try read(&reader)
        } catch {
            let isFlag = ["oneway", "more", "upgrade"].contains(error.path)
            throw error.kind == .type && isFlag ? .flagNotBoolean(error) : .malformed(error)
        }
        if let unknownMember { throw .unknownMember(unknownMember) }
        guard seen.contains(.method) else { throw .missingMethod }
        let flags = (isOneway ? 1 : 0) + (wantsMore ? 1 : 0) + (wantsUpgrade ? 1 : 0)
        guard flags <= 1 else { throw .severalFlags }
    }

    private mutating func read(_ reader: inout JSONReader) throws(JSONError) {
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "method":
                try markSeen(.method, key, reader)
                try readMethod(&reader)
            case "parameters":
                try markSeen(.parameters, key, reader)
                try readParameters(&reader)
            case "oneway":
                try markSeen(.oneway, key, reader)
                isOneway = try reader.readNull() ? false : reader.readBool()
            case "more":
                try markSeen(.more, key, reader)
                wantsMore = try reader.readNull() ? false : reader.readBool()
            case "upgrade":
                try markSeen(.upgrade, key, reader)
                wantsUpgrade = try reader.readNull() ? false : reader.readBool()
            default:
                guard try skipExtension(key, &reader) else { return }
            }
        }
        try reader.end()
    }

    private mutating func markSeen(
        _ member: Members, _ key: JSONKey, _ reader: JSONReader
    ) throws(JSONError) {
        guard seen.insert(member).inserted else { throw reader.duplicateMember(key) }
    }

    private mutating func readMethod(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.peek() == .string else {
            // Throws the reader's error, which names position and type.
            _ = try reader.readString()
            return
        }
        var again = reader
        let raw = try reader.rawValue()
        method = UnsafeRawBufferPointer(rebasing: raw[1..<(raw.count - 1)])
        if method.contains(UInt8(ascii: "\\")) { escapedMethod = try again.readString() }
    }

    private mutating func readParameters(_ reader: inout JSONReader) throws(JSONError) {
        guard try !reader.readNull() else { return }
        guard try reader.peek() == .object else {
            // Throws the reader's error, which names position and type.
            return try reader.beginObject()
        }
        parameters = try skip(&reader)
    }

    /// Skips a member with a dot in its name, which belongs to a vendor and is none of ours; returns false for another
    /// member, for which the call is refused.
    private mutating func skipExtension(
        _ key: JSONKey, _ reader: inout JSONReader
    ) throws(JSONError) -> Bool {
        extensionCount += 1
        guard key.byteCount <= Self.longestName, extensionCount <= Self.mostExtensions else {
            throw reader.unknownMember(key)
        }
        let name = key.string
        guard name.utf8.contains(UInt8(ascii: ".")) else {
            unknownMember = name
            return false
        }
        if check != .nothing, !extensions.insert(key) { throw reader.duplicateMember(key) }
        _ = try skip(&reader)
        return true
    }

    private func skip(_ reader: inout JSONReader) throws(JSONError) -> UnsafeRawBufferPointer {
        switch check {
        case .all: return try reader.rawValue()
        case .grammar:
            reader.longestText = .max
            defer { reader.longestText = Self.longestName }
            return try reader.rawValueOfAnySize()
        case .nothing: return try reader.skimValue()
        }
    }

    private struct Members: OptionSet {
        let rawValue: UInt8
        static let method = Members(rawValue: 1)
        static let parameters = Members(rawValue: 2)
        static let oneway = Members(rawValue: 4)
        static let more = Members(rawValue: 8)
        static let upgrade = Members(rawValue: 16)
    }
}

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

// MARK: Writing

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
        writer.endMessage()
        return writer.bytes
    }
}

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
        let start = count
        key("parameters")
        let value = count
        parameters.write(to: &self)
        // Parameters are an object: two bytes are "{}".
        if count == value + 2 { truncate(to: start) }
    }
}
