/// A comment's id, once in memory for all that refer to it.
///
/// Ids are compared by their UTF-8: strings are equal also where an accent has another form.
final class CommentID: ManagedBuffer<Int, UInt8> {
    /// Makes an id; two of the same text are equal.
    static func make(_ text: String) -> CommentID {
        let utf8 = text.utf8
        let buffer = CommentID.create(minimumCapacity: utf8.count) { _ in utf8.count }
        let id = unsafeDowncast(buffer, to: CommentID.self)
        id.withUnsafeMutablePointerToElements { bytes in
            _ = UnsafeMutableBufferPointer(start: bytes, count: utf8.count).initialize(from: utf8)
        }
        return id
    }

    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeMutablePointers { count, bytes in
            body(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
        }
    }
}

extension CommentID: Hashable {
    static func == (one: CommentID, other: CommentID) -> Bool {
        one === other
            || one.withBytes { one in
                other.withBytes {
                    one.count == $0.count && one.count(ofBytesAsIn: $0) == one.count
                }
            }
    }

    func hash(into hasher: inout Hasher) { withBytes { hasher.combine(bytes: $0) } }
}

extension CommentID: Comparable {
    static func < (one: CommentID, other: CommentID) -> Bool {
        one.withBytes { one in
            other.withBytes { other in
                let place = one.count(ofBytesAsIn: other)
                guard place < one.count, place < other.count else { return one.count < other.count }
                return one[place] < other[place]
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the number of leading bytes that both have in common.
    ///
    /// It compares eight bytes at a time, as nearly all ids have a long beginning in common.
    fileprivate func count(ofBytesAsIn other: UnsafeRawBufferPointer) -> Int {
        let most = Swift.min(count, other.count)
        var place = 0
        while place + 8 <= most,
            loadUnaligned(fromByteOffset: place, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        {
            place += 8
        }
        while place < most, self[place] == other[place] { place += 1 }
        return place
    }
}
