internal import AtriumKit

/// A track: where its file is, and what that says of itself.
struct Track: Sendable, Hashable {
    let path: FilePath
    let tags: Tags
    /// Nanoseconds since 1970: when the file was written.
    let modified: Int64
}

/// What a field may be filled with.
enum Tag: String, CaseIterable {
    case title, artist, album, albumArtist, composer, genre, comment, track, disc, year, duration,
        bitrate, rating, file, format, modified, cover

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The types of fields that it fits.
    func fits(_ type: Field.FieldType) -> Bool {
        switch self {
        case .modified: type == .time
        case .cover: type == .image
        case .track, .disc, .year, .duration, .bitrate, .rating:
            [.integer, .number, .duration].contains(type)
                && (type != .integer || self != .rating)
        default: [.text, .keywords, .markdown].contains(type)
        }
    }
}

/// Which field of the container is filled with which tag.
struct FieldMapping: Sendable {
    private struct Filled: Sendable {
        let field: Field
        let tag: Tag
    }

    private let filled: [Filled]

    /// A mapping: a field has the tag of its own name, unless the setting names another.
    ///
    /// - Throws: ``SettingError`` for a field or a tag that is not there, one that does not fit the other, and a
    ///   required field that nothing fills.
    init(_ fields: [Field], _ setting: [String: Value]) throws {
        for name in setting.keys.sorted() where !fields.contains(where: { $0.name == name }) {
            throw SettingError(
                "fields.\(name)",
                "the container has no field '\(name)'; it has: "
                    + fields.map(\.name).joined(separator: ", "))
        }
        filled = try fields.compactMap { field in
            guard let tag = try Self.tag(for: field, setting[field.name]) else { return nil }
            return Filled(field: field, tag: tag)
        }
    }

    private static func tag(for field: Field, _ value: Value?) throws -> Tag? {
        guard field.derivation == nil else { return nil }
        let name = value?.text ?? (value == nil ? field.name : nil)
        guard let tag = name.flatMap(Tag.init(rawValue:)) else {
            if value != nil {
                throw SettingError("fields.\(field.name)", "expected one of \(Tag.names)")
            }
            guard field.required else { return nil }
            throw SettingError(
                "fields",
                "the field '\(field.name)' is required, and no tag has its name: write "
                    + "'\(field.name): TAG' with one of \(Tag.names)")
        }
        guard tag.fits(field.type) else {
            throw SettingError(
                "fields.\(field.name)",
                "the tag '\(tag.rawValue)' does not fit a field of the type \(field.type.rawValue)")
        }
        return tag
    }

    /// The item of a track.
    ///
    /// A value that the field does not take is left out.
    func item(_ id: String, _ track: Track) -> Item {
        var values: [String: Value] = [:]
        for filled in filled { values[filled.field.name] = value(of: filled, track) }
        return Item(id: id, fields: values)
    }

    /// All that is known of a track, and where its file is.
    func details(of track: Track, in folder: String) -> [String: Value] {
        var details: [String: Value] = ["path": .text("\(folder)/\(track.path.shown)")]
        for tag in Tag.allCases where tag != .modified {
            let texts = tag.texts(of: track)
            if !texts.isEmpty { details[tag.rawValue] = .text(texts.joined(separator: ", ")) }
            if let number = tag.number(of: track) {
                details[tag.rawValue] = Int64(exactly: number).map(Value.int) ?? .number(number)
            }
        }
        return details
    }

    private func value(of filled: Filled, _ track: Track) -> Value? {
        let field = filled.field
        switch field.type {
        case .text, .markdown:
            let texts = filled.tag.texts(of: track)
            return texts.isEmpty ? nil : .text(texts.joined(separator: ", "))
        case .keywords:
            let texts = filled.tag.texts(of: track)
            return texts.isEmpty ? nil : .list(texts.map(Value.text))
        case .image:
            // Another name for another picture: who has kept one reads it again.
            return track.tags.hasCover
                ? .text("source:\(String(track.modified.magnitude, radix: 36))") : nil
        case .time: return .text(Timestamp(milliseconds: track.modified / 1_000_000).text)
        default:
            guard let number = filled.tag.number(of: track), number >= field.min ?? number,
                number <= field.max ?? number
            else { return nil }
            return Int64(exactly: number).map(Value.int) ?? .number(number)
        }
    }
}

extension Tag {
    fileprivate func texts(of track: Track) -> [String] {
        let tags = track.tags
        let texts =
            switch self {
            case .title: [tags.title.isEmpty ? track.path.stem : tags.title]
            case .artist: tags.artists
            case .album: [tags.album]
            case .albumArtist: tags.albumArtists
            case .composer: tags.composers
            case .genre: tags.genres
            case .comment: [tags.comment]
            case .file: [track.path.shown]
            case .format: [track.path.ending]
            default: [String]()
            }
        return texts.filter { !$0.isEmpty }
    }

    fileprivate func number(of track: Track) -> Double? {
        let tags = track.tags
        return switch self {
        case .track: tags.track.map(Double.init)
        case .disc: tags.disc.map(Double.init)
        case .year: tags.year.map(Double.init)
        case .duration: Double(tags.seconds)
        case .bitrate: tags.bitrate > 0 ? Double(tags.bitrate) : nil
        case .rating: tags.rating
        default: nil
        }
    }
}
