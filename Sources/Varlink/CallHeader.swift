internal import JSONCodec

/// The header of a call, parsed from its frame: the method, the flags, and the place of the parameters.
///
/// It points into the frame and is valid only as long as that. The whole frame was checked to be JSON, so later errors
/// in the parameters are errors of their types; except for a header that was only skimmed, see ``init(_:nesting:skims:)``.
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

    /// Whether parameters and extensions were not checked.
    let isSkimmed: Bool

    private var seen: Members = []
    private var extensions = JSONKeySet()
    private var unknownMember: String?

    /// Parses a frame, whose parameters may nest up to `nesting` levels.
    ///
    /// - Parameters:
    ///   - bytes: The frame, without its NUL.
    ///   - nesting: The maximum depth of the parameters.
    ///   - skims: Whether to find only the end of the parameters and of extensions, without checking them: to check
    ///     them takes a hundred times longer if they consist of many members.
    /// - Throws: What is wrong with the frame.
    init(
        _ bytes: UnsafeRawBufferPointer, nesting: Int, skims: Bool = false
    ) throws(ProtocolViolation) {
        isSkimmed = skims
        do throws(JSONError) {
            var reader = JSONReader(bytes, depthLimit: nesting + 1)
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
                try skipExtension(key, &reader)
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
        parameters = try isSkimmed ? reader.skimValue() : reader.rawValue()
    }

    /// A member with a dot in its name belongs to a vendor and is none of ours.
    private mutating func skipExtension(
        _ key: JSONKey, _ reader: inout JSONReader
    ) throws(JSONError) {
        let name = key.string
        guard name.utf8.contains(UInt8(ascii: ".")) else {
            unknownMember = unknownMember ?? name
            return try skip(&reader)
        }
        guard !isSkimmed else { return try skip(&reader) }
        guard extensions.insert(key) else { throw reader.duplicateMember(key) }
        try reader.skipValue()
    }

    private func skip(_ reader: inout JSONReader) throws(JSONError) {
        if isSkimmed { _ = try reader.skimValue() } else { try reader.skipValue() }
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
