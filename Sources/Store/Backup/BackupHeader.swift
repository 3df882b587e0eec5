/// The first bytes of a backup: the header of every SQLite file.
struct BackupHeader {
    static let size = 100

    /// The size of the whole file in bytes; nil if the header does not contain it.
    let expected: Int?

    /// Reads a header from the first ``size`` bytes of a file; throws if the file is not one of Atrium's.
    init(_ bytes: [UInt8], of file: String) throws(RestoreError) {
        guard bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .foreign(
                file: file, reason: bytes.isEmpty ? "it is empty" : "it is no SQLite database")
        }
        guard bytes.count >= Self.size else {
            throw .truncated(file: file, bytes: bytes.count, expected: Self.size)
        }
        func number(at place: Int) -> Int {
            bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(at: 68) == Schema.applicationID else {
            throw .foreign(file: file, reason: "it is a database of another program")
        }
        let page = Int(bytes[16]) << 8 | Int(bytes[17])
        // The page count is valid only if it was written with the last change.
        let isCounted = number(at: 28) > 0 && number(at: 24) == number(at: 92)
        expected = isCounted ? number(at: 28) * (page == 1 ? 65_536 : page) : nil
    }
}
