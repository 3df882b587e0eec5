/// The encoding of an entry's changes in its row, where they stay until they are written to the records.
///
/// Numbers are LEB128 varints, texts and values their length and bytes:
///
///     places: count, then container and component of each
///     changes: count, then for each: its place, its key, and 0, or the value's length + 1 and the value
enum ChangesCode {
    static func encode(_ changes: [RecordChange]) -> [UInt8] {
        if changes.count == 1, let change = changes.first { return encode(change) }
        var bytes: [UInt8] = []
        // Enough for nearly all changes: names are short, and a number takes 1 to 3 bytes.
        bytes.reserveCapacity(
            changes.reduce(128) { $0 + $1.key.utf8.count + ($1.value?.count ?? 0) + 8 })
        var places: [(container: String, component: String)] = []
        let numbers = changes.map { change in
            let known = places.lastIndex {
                $0.component == change.component && $0.container == change.container
            }
            if let known { return known }
            places.append((change.container, change.component))
            return places.count - 1
        }
        append(places.count, to: &bytes)
        for place in places {
            append(place.container, to: &bytes)
            append(place.component, to: &bytes)
        }
        append(changes.count, to: &bytes)
        for (change, place) in zip(changes, numbers) {
            append(place, to: &bytes)
            append(change.key, to: &bytes)
            append(change.value.map { $0.count + 1 } ?? 0, to: &bytes)
            bytes.append(contentsOf: change.value ?? [])
        }
        return bytes
    }

    /// The same of one change, as most entries have.
    private static func encode(_ change: RecordChange) -> [UInt8] {
        let value = change.value
        let most =
            change.container.utf8.count + change.component.utf8.count + change.key.utf8.count
            + (value?.count ?? 0) + 7 * mostOfNumber
        return [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            func append(_ number: Int) {
                var rest = UInt(number)
                while rest > 0x7F {
                    buffer[count] = UInt8(rest & 0x7F) | 0x80
                    count += 1
                    rest >>= 7
                }
                buffer[count] = UInt8(rest)
                count += 1
            }
            func append(_ bytes: UnsafeBufferPointer<UInt8>) {
                count =
                    UnsafeMutableBufferPointer(rebasing: buffer[count...])
                    .initialize(fromContentsOf: bytes) + count
            }
            func append(_ text: String) {
                var text = text
                text.withUTF8 {
                    append($0.count)
                    append($0)
                }
            }
            append(1)
            append(change.container)
            append(change.component)
            append(1)
            append(0)
            append(change.key)
            append(value.map { $0.count + 1 } ?? 0)
            value?.withUnsafeBufferPointer(append)
        }
    }

    /// The most bytes of a number.
    private static let mostOfNumber = 10

    /// - Returns: nil if the bytes are not valid.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> [RecordChange]? {
        var reader = Reader(rest: bytes[...])
        guard let placeCount = reader.number() else { return nil }
        var places: [(container: String, component: String)] = []
        for _ in 0..<placeCount {
            guard let container = reader.text(), let component = reader.text() else { return nil }
            places.append((container, component))
        }
        guard let count = reader.number() else { return nil }
        var changes: [RecordChange] = []
        for _ in 0..<count {
            guard let place = reader.number(), place < places.count, let key = reader.text(),
                let length = reader.number()
            else { return nil }
            var value: [UInt8]?
            if length > 0 {
                guard let bytes = reader.bytes(length - 1) else { return nil }
                value = Array(bytes)
            }
            changes.append(
                RecordChange(
                    container: places[place].container, component: places[place].component,
                    key: key, value: value))
        }
        return reader.rest.isEmpty ? changes : nil
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = UInt(number)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        append(text.utf8.count, to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    private struct Reader {
        var rest: Slice<UnsafeRawBufferPointer>

        mutating func number() -> Int? {
            var result: UInt = 0
            for shift in stride(from: UInt(0), to: 56, by: 7) {
                guard let byte = rest.popFirst() else { return nil }
                result |= UInt(byte & 0x7F) << shift
                if byte < 0x80 { return Int(result) }
            }
            return nil
        }

        mutating func bytes(_ count: Int) -> Slice<UnsafeRawBufferPointer>? {
            guard count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func text() -> String? {
            guard let count = number(), let bytes = bytes(count) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
