internal import Glibc
internal import JSONCodec

/// One method that can be called.
///
/// An object, so that a call that finds it counts one reference and not one for each part.
final class MethodEntry: Sendable {
    /// Reads the parameters (an object's text, nesting so deep at most) and runs the handler.
    typealias Invocation =
        @Sendable (UnsafeRawBufferPointer, Int, CallSlot) throws(JSONError) -> Void

    /// Its full name.
    let name: String

    /// Its place in the table.
    let place: UInt16

    /// Whether its calls may, or have to, ask for another protocol.
    let upgrade: VarlinkRouter.Upgrade

    /// Decides which peers may call it; nil: all may.
    let authorize: VarlinkRouter.Authorization?

    /// Goes on with a call that was under way in another process; nil: it can't.
    let resume: (@Sendable (JSONObject, CallSlot) -> Void)?

    /// Reads the parameters and runs the handler.
    let invoke: Invocation

    init(
        name: String, place: Int = 0, upgrade: VarlinkRouter.Upgrade = .never,
        authorize: VarlinkRouter.Authorization? = nil,
        resume: (@Sendable (JSONObject, CallSlot) -> Void)? = nil, invoke: @escaping Invocation
    ) {
        self.name = name
        self.place = UInt16(place)
        self.upgrade = upgrade
        self.authorize = authorize
        self.resume = resume
        self.invoke = invoke
    }
}

/// Methods by name, found by the bytes that stand in a call: no string is made.
struct MethodTable: Sendable {
    private struct Place {
        var hash: UInt64 = 0
        /// Where the name's bytes stand among all names, and how many there are.
        var start = 0
        var count = 0
        /// Which entry it is; -1 for none.
        var entry = -1
    }

    private let entries: [MethodEntry]
    /// All names, one behind the other.
    private let names: [UInt8]

    /// Entries by hash, with linear probing.
    ///
    /// A power of two in size, and at most half full, so that a search ends.
    private let places: [Place]

    /// A table of these methods, each of which knows its place among them.
    init(_ entries: [MethodEntry]) {
        var size = 2
        while size < entries.count * 2 { size *= 2 }
        var places = [Place](repeating: Place(), count: size)
        var names: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let name = Array(entry.name.utf8)
            let hash = name.withUnsafeBytes(MethodTable.hash)
            var place = Int(truncatingIfNeeded: hash) & (size - 1)
            while places[place].entry >= 0 { place = (place + 1) & (size - 1) }
            places[place] = Place(
                hash: hash, start: names.count, count: name.count, entry: index)
            names += name
        }
        self.entries = entries
        self.names = names
        self.places = places
    }

    /// How many there are: also the place of those that there are not.
    var count: UInt16 { UInt16(entries.count) }

    /// The methods' names, each at its place.
    var methodNames: [String] { entries.map(\.name) }

    func entry(named name: UnsafeRawBufferPointer) -> MethodEntry? {
        let hash = MethodTable.hash(name)
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while places[place].entry >= 0 {
            let found = places[place]
            if found.hash == hash, isName(found, name) { return entries[found.entry] }
            place = (place + 1) & mask
        }
        return nil
    }

    private func isName(_ place: Place, _ name: UnsafeRawBufferPointer) -> Bool {
        guard place.count == name.count else { return false }
        return names.withUnsafeBytes { names in
            guard let known = names.baseAddress, let name = name.baseAddress else { return true }
            return memcmp(known + place.start, name, place.count) == 0
        }
    }

    /// Eight bytes at a time.
    ///
    /// The table is small and made by the server: collisions give a peer no advantage.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var place = 0
        while place + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        for byte in bytes[place...] { rest = rest << 8 | UInt64(byte) }
        mix(rest)
        return hash
    }
}
