public import AtriumKit
public import JSONCodec

/// Whole numbers in JSON, which reading rounds where 64 bits don't hold them.
public enum WholeNumbers {
    /// Refuses JSON with a whole number that 64 bits don't hold; the error names what is expected and the number.
    public static func check(_ json: [UInt8]) throws(JSONError) {
        let result = json.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in
                var reader = JSONReader(bytes)
                try check(&reader)
            }
        }
        try result.get()
    }

    /// Refuses JSON of which a whole number was rounded that 64 bits don't hold.
    ///
    /// - Parameters:
    ///   - json: the text of an object.
    ///   - values: the members that were read of it; only if one may be rounded the text is read again.
    /// - Throws: as ``check(_:)``.
    public static func check(_ json: [UInt8], readAs values: [String: Value]) throws(JSONError) {
        if values.values.contains(where: \.mayBeRounded) { try check(json) }
    }

    private static func check(_ json: inout JSONReader) throws(JSONError) {
        switch try json.peek() {
        case .object:
            try json.beginObject()
            while try json.nextKey() != nil { try check(&json) }
        case .array:
            try json.beginArray()
            while try json.nextElement() { try check(&json) }
        case .number:
            let start = json.offset
            let raw = String(decoding: try json.rawValue(), as: UTF8.self)
            guard raw.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2D }),
                Int64(raw) == nil
            else { return }
            throw json.invalidValue(
                expected: "a whole number of 64 bits, or one with a fraction or an exponent "
                    + "(a text in quotes keeps every digit)",
                found: raw.count > 40 ? "\(raw.prefix(40))…" : raw, at: start)
        default: try json.skipValue()
        }
    }
}

extension Value {
    /// Whether a number in it may have been written as a whole number beyond 64 bits.
    fileprivate var mayBeRounded: Bool {
        switch self {
        case .number(let number): number.magnitude >= 0x1p63
        case .list(let list): list.contains(where: \.mayBeRounded)
        case .object(let object): object.values.contains(where: \.mayBeRounded)
        case .null, .bool, .int, .text: false
        }
    }
}
