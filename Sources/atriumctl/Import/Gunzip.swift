import CZlib

/// Unpacks what gzip packed, a piece at a time; several packed files one after the other are one.
final class Gunzip {
    /// How many bytes a piece has at most: few bytes may stand for very many.
    private static let piece = 1 << 18

    private let stream: UnsafeMutablePointer<z_stream>
    private var packed: [UInt8] = []
    private var taken = 0
    private var isAtEnd = false

    /// Whether bytes begin as gzip's do.
    static func isPacked(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x1F, 0x8B])
    }

    init() throws(CommandFailure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, and 16 for gzip's header and sum.
        let status = inflateInit2_(
            stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw CommandFailure("zlib does not start: error \(status)") }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Takes packed bytes; those before must have been unpacked.
    func add(_ bytes: [UInt8]) {
        packed = bytes
        taken = 0
    }

    /// The next piece of what was taken, nil where more has to be taken first; throws for bytes that gzip did not
    /// write.
    func next() throws(CommandFailure) -> [UInt8]? {
        while taken < packed.count {
            if isAtEnd {
                // Others pad a packed file with zeros, to a tape's block for example.
                guard Self.isPacked(packed[taken...]) else {
                    taken = packed.count
                    return nil
                }
                inflateReset(stream)
                isAtEnd = false
            }
            let piece = try inflate()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Checks that nothing is missing at the end.
    func finish() throws(CommandFailure) {
        guard isAtEnd else { throw CommandFailure("it ends in the middle: the file is cut off") }
    }

    private func inflate() throws(CommandFailure) -> [UInt8] {
        var status = Z_OK
        let piece = packed.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: Self.piece) { output, count in
                stream.pointee.next_in = input.baseAddress.map { $0 + taken }
                stream.pointee.avail_in = UInt32(input.count - taken)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                status = CZlib.inflate(stream, Z_NO_FLUSH)
                count = output.count - Int(stream.pointee.avail_out)
                taken = input.count - Int(stream.pointee.avail_in)
            }
        }
        isAtEnd = status == Z_STREAM_END
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            throw CommandFailure("what gzip packed is damaged")
        }
        return piece
    }
}
