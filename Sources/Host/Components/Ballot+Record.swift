import AtriumKit
import JSONCodec

extension Ballot {
    /// The ballot of a record that is as ``record`` makes it; nil for any other one, which is to be read as a value.
    init?(key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer) {
        guard let separator = key.lastIndex(of: UInt8(ascii: "\n")),
            let actor = Int64(plainDigits: key[(separator + 1)...]),
            let (value, cast) = try? Self.read(record)
        else { return nil }
        let item = key[..<separator]
        self.init(
            subject: item.isEmpty ? .container : .item(String(decoding: item, as: UTF8.self)),
            actor: ActorID(actor), value: value, cast: Timestamp(milliseconds: Int64(cast)))
    }

    /// Reads `{"cast":…,"value":…}`; nil where there are other members, or one stands twice.
    private static func read(
        _ record: UnsafeRawBufferPointer
    ) throws(JSONError) -> (value: Double, cast: Int)? {
        var json = JSONReader(record)
        var (value, cast): (Double?, Int?)
        guard try json.peek() == .object else { return nil }
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "value" where value == nil: value = try json.readDouble()
            case "cast" where cast == nil: cast = try json.readInt()
            default: return nil
            }
        }
        try json.end()
        guard let value, let cast else { return nil }
        return (value, cast)
    }
}

extension Int64 {
    /// The number that digits alone stand for; nil for any other text.
    fileprivate init?(plainDigits text: Slice<UnsafeRawBufferPointer>) {
        // Of so many digits none are beyond 64 bits.
        guard 1...19 ~= text.count else { return nil }
        var number: UInt64 = 0
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number &* 10 &+ UInt64(digit)
        }
        self.init(exactly: number)
    }
}
