/// A picture in the form that clients get: a PNG, JPEG, GIF, WebP or AVIF of at most 2 MiB.
///
/// Its first bytes decide its type, whatever its file is called. SVG is not accepted: it may contain scripts.
public struct ItemImage: Sendable, Hashable {
    /// The maximum size of a picture: 2 MiB.
    public static let mostBytes = 2 << 20

    /// Its media type, such as `image/png`.
    public let type: String
    /// Its bytes in base64.
    public let base64: String

    /// Creates a picture from its bytes.
    ///
    /// - Throws: a ``Refusal`` if there are too many, or they are no picture.
    public init(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Self.mostBytes else { throw Self.tooBig("\(bytes.count)") }
        type = try Self.type(of: bytes)
        base64 = Self.encode(bytes)
    }

    /// Creates a picture from its bytes in base64.
    ///
    /// - Throws: a ``Refusal`` if there are too many, they are no picture, or the text is not base64.
    public init(base64 text: String) throws(Refusal) {
        // A longer text is not decoded.
        guard text.utf8.count <= (Self.mostBytes + 2) / 3 * 4 else {
            throw Self.tooBig("more than \(Self.mostBytes)")
        }
        guard Self.isBase64(text) else { throw Refusal("This picture is no base64.") }
        type = try Self.type(of: Self.head(of: text))
        base64 = text
    }

    private static func tooBig(_ bytes: String) -> Refusal {
        Refusal(
            "This picture has \(bytes) bytes, and at most \(mostBytes) are sent: make it smaller.")
    }
}

/// Encoded as its bytes in base64.
extension ItemImage: Codable {
    /// Decodes bytes in base64, and determines the type from them.
    ///
    /// - Throws: a `DecodingError` if there are too many, they are no picture, or the text is not base64.
    public init(from decoder: any Decoder) throws {
        let text = try String(from: decoder)
        do throws(Refusal) {
            try self.init(base64: text)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.reason))
        }
    }

    /// Encodes the bytes in base64.
    public func encode(to encoder: any Encoder) throws { try base64.encode(to: encoder) }
}

// MARK: Types of bytes

extension ItemImage {
    private static func type(of bytes: [UInt8]) throws(Refusal) -> String {
        func has(_ text: String, at place: Int = 0) -> Bool {
            bytes.dropFirst(place).starts(with: text.utf8)
        }
        if bytes.starts(with: [0x89]), has("PNG\r\n\u{1A}\n", at: 1) { return "image/png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has("GIF87a") || has("GIF89a") { return "image/gif" }
        if has("RIFF"), has("WEBP", at: 8) { return "image/webp" }
        if has("ftyp", at: 4) {
            // The brands: the file's own, and after a version number the compatible ones.
            let end = min(bytes[..<4].reduce(0) { $0 << 8 | Int($1) }, bytes.count, headBytes)
            let brands = [8] + stride(from: 16, to: max(end - 3, 16), by: 4)
            if brands.contains(where: { has("avif", at: $0) || has("avis", at: $0) }) {
                return "image/avif"
            }
        }
        throw Refusal(
            "This is no picture that is sent: it has to be a PNG, JPEG, GIF, WebP or AVIF.")
    }

    /// The number of bytes that determine the type of a picture.
    private static let headBytes = 96
}

// MARK: Base64

extension ItemImage {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character; 255 for characters that are not base64.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = alphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let rest = min(bytes.count - start, 3)
            var group = UInt32(bytes[start]) << 16
            if rest > 1 { group |= UInt32(bytes[start + 1]) << 8 }
            if rest > 2 { group |= UInt32(bytes[start + 2]) }
            text.append(alphabet[Int(group >> 18)])
            text.append(alphabet[Int(group >> 12 & 63)])
            text.append(rest > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            text.append(rest > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isBase64(_ text: String) -> Bool {
        let characters = text.utf8
        guard !characters.isEmpty, characters.count % 4 == 0 else { return false }
        let padding = characters.suffix(2).count { $0 == UInt8(ascii: "=") }
        let values = values
        var all: UInt8 = 0
        for character in characters.dropLast(padding) { all |= values[Int(character)] }
        return all < 64
    }

    /// Decodes the first bytes of a base64 text.
    private static func head(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var (group, count): (UInt32, Int) = (0, 0)
        for character in text.utf8.prefix(headBytes / 3 * 4) {
            guard let value = alphabet.firstIndex(of: character) else { break }
            (group, count) = (group << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(count)))
        }
        return bytes
    }
}

/// A source with pictures of its own, in files or in a service, which it reads on request.
///
/// Its items hold `source:NAME` in a field of the type `image`; only the source interprets the name. Clients that show
/// the item read the picture by `Contents.Image`, which calls the source. Pictures are not part of lists, so these stay
/// small.
///
/// ```swift
/// func image(of id: String, field: String) -> ImageWork? {
///     guard let path = covers[id] else { return nil }
///     return { try Covers.read(path) }
/// }
/// ```
public protocol ImageProviding: ContentListing {
    /// Returns the work that reads an item's picture.
    ///
    /// Called on the domain, and must return at once: the returned work may take time. It runs in the background, and
    /// is cancelled with the component; its result is ignored after 30 seconds. At most four run at a time for a
    /// component.
    ///
    /// - Parameters:
    ///   - id: one of the component's items.
    ///   - field: a field of the type `image`, in which the item holds `source:NAME`.
    /// - Returns: work that returns the bytes of a PNG, JPEG, GIF, WebP or AVIF, at most 2 MiB, or throws an error
    ///   whose description people can read; nil if there is no such picture.
    /// - Throws: a ``Refusal`` with the reason why the picture is not available.
    func image(of id: String, field: String) throws(Refusal) -> ImageWork?
}

/// Returns the bytes of a picture, off the domain.
public typealias ImageWork = @Sendable () async throws -> [UInt8]
