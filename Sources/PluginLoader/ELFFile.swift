/// The dynamic symbol table of a shared library, read without loading the library.
///
/// It reads 64-bit little-endian ELF by section headers. The file is not trusted: every offset and size is checked
/// against the file's size before it is used.
struct ELFFile {
    /// The reason why a file can't be read as a shared library of this machine, for people.
    struct Unreadable: Error {
        let reason: String
    }

    /// The symbols that it defines for others.
    private(set) var defined: Set<String> = []
    /// The symbols that others must define for it.
    private(set) var undefined: Set<String> = []
    /// The libraries that it needs, by the names that it knows them by.
    private(set) var needed: [String] = []

    private static let headerSize: UInt64 = 64
    private static let sectionSize: UInt64 = 64
    private static let symbolSize = 24
    private static let dynamicSize = 16
    /// No table that is read may be larger; a real one of this size would have a million symbols.
    private static let maxTable: UInt64 = 64 << 20

    private struct Section {
        let type: UInt32
        let offset: UInt64
        let size: UInt64
        let link: UInt32
    }

    /// Reads a file's dynamic symbols; throws for anything that is no whole shared library of this machine.
    init(_ file: RegularFile) throws(Unreadable) {
        guard let header = file.read(at: 0, count: Self.headerSize).map(Bytes.init) else {
            throw Unreadable(reason: "it is no ELF file: it has \(file.size) bytes")
        }
        try Self.check(header)
        let sections = try Self.sections(header, of: file)
        guard let symbols = sections.first(where: { $0.type == 11 }) else {
            throw Unreadable(reason: "it has no dynamic symbol table (.dynsym)")
        }
        let names = try Self.names(of: symbols, sections, file)
        try readSymbols(try Self.content(of: symbols, file, "the table .dynsym"), names)
        if let dynamic = sections.first(where: { $0.type == 6 }) {
            let names = try Self.names(of: dynamic, sections, file)
            try readNeeded(try Self.content(of: dynamic, file, "the table .dynamic"), names)
        }
    }

    private static func check(_ header: Bytes) throws(Unreadable) {
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw Unreadable(reason: "it is no ELF file")
        }
        guard header.uint8(4) == 2, header.uint8(5) == 1 else {
            throw Unreadable(reason: "it is no 64-bit little-endian ELF file")
        }
        guard header.uint16(16) == 3 else {
            throw Unreadable(reason: "it is no shared library")
        }
        let machine = header.uint16(18)
        if let own = Machine.own, machine != own.number {
            throw Unreadable(
                reason: "it is for another machine (\(Machine.name(of: machine))), this one is "
                    + own.name)
        }
    }

    private static func sections(
        _ header: Bytes, of file: RegularFile
    ) throws(Unreadable) -> [Section] {
        let (offset, count) = (header.uint64(40), UInt64(header.uint16(60)))
        guard offset != 0, count != 0 else {
            throw Unreadable(reason: "it has no section headers: it was stripped of them")
        }
        guard UInt64(header.uint16(58)) == sectionSize else {
            throw Unreadable(reason: "its section headers have an unknown size")
        }
        guard let table = file.read(at: offset, count: count * sectionSize).map(Bytes.init) else {
            throw Unreadable(reason: "it is cut off: its section headers lie beyond its end")
        }
        return (0..<Int(count)).map { index in
            let start = index * Int(sectionSize)
            return Section(
                type: table.uint32(start + 4), offset: table.uint64(start + 24),
                size: table.uint64(start + 32), link: table.uint32(start + 40))
        }
    }

    private static func content(
        of section: Section, _ file: RegularFile, _ what: String
    ) throws(Unreadable) -> Bytes {
        guard section.size <= maxTable else {
            throw Unreadable(reason: "\(what) has \(section.size) bytes: too many")
        }
        guard let bytes = file.read(at: section.offset, count: section.size) else {
            throw Unreadable(reason: "it is cut off: \(what) lies beyond its end")
        }
        return Bytes(bytes)
    }

    private static func names(
        of section: Section, _ sections: [Section], _ file: RegularFile
    ) throws(Unreadable) -> Bytes {
        guard section.link < sections.count else {
            throw Unreadable(reason: "a table names a section that is not there")
        }
        return try content(of: sections[Int(section.link)], file, "the table .dynstr")
    }

    private mutating func readSymbols(_ table: Bytes, _ names: Bytes) throws(Unreadable) {
        for start in stride(from: 0, to: table.count - Self.symbolSize + 1, by: Self.symbolSize) {
            // Bindings 1 and 2 are global and weak: others can see them.
            let binding = table.uint8(start + 4) >> 4
            guard binding == 1 || binding == 2 else { continue }
            guard let name = names.text(at: Int(table.uint32(start))) else {
                throw Unreadable(reason: "the name of a symbol lies beyond the table .dynstr")
            }
            if table.uint16(start + 6) == 0 {
                undefined.insert(name)
            } else {
                defined.insert(name)
            }
        }
    }

    private mutating func readNeeded(_ table: Bytes, _ names: Bytes) throws(Unreadable) {
        for start in stride(from: 0, to: table.count - Self.dynamicSize + 1, by: Self.dynamicSize) {
            switch table.uint64(start) {
            case 0: return
            case 1:
                let offset = Int(exactly: table.uint64(start + 8))
                guard let name = offset.flatMap(names.text(at:)) else {
                    throw Unreadable(reason: "the name of a library lies beyond its table")
                }
                needed.append(name)
            default: continue
            }
        }
    }
}

/// Bytes that are read as little-endian numbers; bytes beyond the end read as 0.
private struct Bytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    func starts(with prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
    func uint8(_ offset: Int) -> UInt8 { number(offset) }
    func uint16(_ offset: Int) -> UInt16 { number(offset) }
    func uint32(_ offset: Int) -> UInt32 { number(offset) }
    func uint64(_ offset: Int) -> UInt64 { number(offset) }

    /// The text from a place to the next zero; nil where there is none.
    func text(at offset: Int) -> String? {
        guard bytes.indices.contains(offset), let end = bytes[offset...].firstIndex(of: 0) else {
            return nil
        }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    private func number<T: FixedWidthInteger>(_ offset: Int) -> T {
        guard offset >= 0, offset <= bytes.count - MemoryLayout<T>.size else { return 0 }
        return bytes.withUnsafeBytes {
            T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
    }
}

/// Machines by their numbers in ELF headers.
private enum Machine {
    /// The one that this was built for; nil for one that has no number here.
    static var own: (number: UInt16, name: String)? {
        #if arch(x86_64)
            (62, "x86-64")
        #elseif arch(arm64)
            (183, "AArch64")
        #elseif arch(riscv64)
            (243, "RISC-V")
        #else
            nil
        #endif
    }

    static func name(of number: UInt16) -> String {
        switch number {
        case 3: "x86"
        case 40: "ARM"
        case 62: "x86-64"
        case 183: "AArch64"
        case 243: "RISC-V"
        default: "number \(number)"
        }
    }
}
