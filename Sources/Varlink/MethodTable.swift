internal import JSONCodec

/// One method that can be called.
struct MethodEntry: Sendable {
    /// Its full name.
    let name: String

    /// Whether its calls may, or have to, ask for another protocol.
    var upgrade = VarlinkRouter.Upgrade.never

    /// Its place in the table.
    var place: UInt16 = 0

    /// Goes on with a call that was under way in another process; nil: it can't.
    var resume: (@Sendable (JSONObject, CallSlot) -> Void)?

    /// Reads the parameters (an object's text, nesting so deep at most) and runs the handler.
    let invoke: @Sendable (UnsafeRawBufferPointer, Int, CallSlot) throws(JSONError) -> Void
}

/// Methods by name, found by the bytes that stand in a call: no string is made.
struct MethodTable: Sendable {
    private let entries: [MethodEntry]
    private let names: [[UInt8]]

    /// Places of entries by hash, with linear probing; -1 is empty.
    ///
    /// A power of two in size, and at most half full, so that a search ends.
    private let places: [Int32]

    init(_ entries: [MethodEntry]) {
        var size = 2
        while size < entries.count * 2 { size *= 2 }
        var places = [Int32](repeating: -1, count: size)
        let names = entries.map { Array($0.name.utf8) }
        for (index, name) in names.enumerated() {
            var place = name.withUnsafeBytes(MethodTable.hash) & (size - 1)
            while places[place] >= 0 { place = (place + 1) & (size - 1) }
            places[place] = Int32(index)
        }
        self.entries = entries.enumerated().map { place, entry in
            var entry = entry
            entry.place = UInt16(place)
            return entry
        }
        self.names = names
        self.places = places
    }

    /// How many there are: also the place of those that there are not.
    var count: UInt16 { UInt16(entries.count) }

    /// The methods' names, each at its place.
    var methodNames: [String] { entries.map(\.name) }

    func entry(named name: UnsafeRawBufferPointer) -> MethodEntry? {
        let mask = places.count - 1
        var place = MethodTable.hash(name) & mask
        while places[place] >= 0 {
            let index = Int(places[place])
            if names[index].withUnsafeBytes({ $0.elementsEqual(name) }) { return entries[index] }
            place = (place + 1) & mask
        }
        return nil
    }

    /// FNV-1a.
    ///
    /// The table is small and made by us: nobody gains by colliding with it.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}
