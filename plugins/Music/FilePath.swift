internal import AtriumKit
internal import Foundation

/// A path below the folder, as its bytes: names need not be text, and two forms of an accent are two names.
struct FilePath: Hashable, Sendable, Comparable {
    /// Names with `/` between them; none: the folder itself.
    let bytes: [UInt8]

    /// The folder itself.
    static let root = FilePath(bytes: [])

    /// What lies right in a folder.
    func appending(_ name: [UInt8]) -> FilePath {
        FilePath(bytes: bytes.isEmpty ? name : bytes + [UInt8(ascii: "/")] + name)
    }

    static func < (one: FilePath, other: FilePath) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    /// The folder that it lies in.
    var folder: FilePath { FilePath(bytes: Array(parts.folder)) }

    /// Its own name.
    var name: [UInt8] { Array(parts.name) }

    private var parts: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
        guard let cut = bytes.lastIndex(of: UInt8(ascii: "/")) else { return ([], bytes[...]) }
        return (bytes[..<cut], bytes[(cut + 1)...])
    }

    /// The name's ending in small letters, such as `mp3`; empty: it has none.
    var ending: String {
        let name = parts.name
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
            return ""
        }
        return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    }

    /// The name without its ending.
    var stem: String {
        let name = parts.name
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        return Text.cleaned(name[..<(dot > name.startIndex ? dot : name.endIndex)])
    }

    /// The path for people: what is no text or can't be printed is replaced.
    var shown: String { Text.cleaned(bytes) }

    /// For the system's calls: the path below `folder`, ended by a 0.
    func absolute(below folder: String) -> [CChar] {
        let whole = Array(folder.utf8) + (bytes.isEmpty ? [] : [UInt8(ascii: "/")] + bytes) + [0]
        return whole.map(CChar.init(bitPattern:))
    }
}

extension FilePath {
    /// The path in NFC, where that may be an id; nil: the id of its item is the ``digest``.
    var textID: String? {
        guard bytes.count <= 400, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let normal = text.precomposed
        let isID =
            (1...200).contains(normal.utf8.count)
            && normal.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isID ? normal : nil
    }

    /// Its ``textID``, where another path may have that too: names on the way have accents or the like.
    var sharedID: String? { bytes.allSatisfy { $0 < 0x80 } ? nil : textID }

    /// `~` and the FNV-1a of the path's bytes, 32 digits: the same wherever it is computed.
    var digest: String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in bytes {
            hash ^= UInt128(byte)
            hash &*= 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
        let digits = String(hash, radix: 16)
        return "~" + String(repeating: "0", count: 32 - digits.count) + digits
    }
}

/// Texts that others wrote.
enum Text {
    /// The most characters of one: what is longer is cut.
    static let most = 500

    /// On one line, without control characters, and not too long; what is no UTF-8 is replaced.
    static func cleaned(_ bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(4 * most), as: UTF8.self)
        let words = text.unicodeScalars.split {
            $0.properties.generalCategory == .control || $0.properties.isWhitespace
        }
        return String(words.map { String($0) }.joined(separator: " ").prefix(most))
    }
}
