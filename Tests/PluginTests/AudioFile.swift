import Foundation

/// Small audio files with tags, made of bytes.
enum AudioFile {
    /// What a file is to say of itself.
    struct Tags {
        var title: String?
        var artist: String?
        var album: String?
        var genre: String?
        var track: String?
        var year: String?
        /// From 0 to 255, as the frame POPM has it.
        var popularity: UInt8?
        /// A picture's bytes.
        var cover: [UInt8]?
    }

    /// Two seconds of silence as an MP3, with an ID3v2.3 tag.
    static func mp3(_ tags: Tags) -> Data {
        // 128 kbit/s at 44.1 kHz: 417 bytes for 26 ms.
        let frame: [UInt8] = [0xff, 0xfb, 0x90, 0x64] + [UInt8](repeating: 0, count: 413)
        return Data(id3(tags) + (0..<77).flatMap { _ in frame })
    }

    /// Two seconds of silence as a WAV, with the tag in a chunk `id3 `.
    static func wav(_ tags: Tags) -> Data {
        let sound = [UInt8](repeating: 128, count: 16_000)
        let format = little(1, 2) + little(1, 2) + little(8_000, 4) + little(8_000, 4)
        var chunks = chunk("fmt ", format + little(1, 2) + little(8, 2)) + chunk("data", sound)
        chunks += chunk("id3 ", id3(tags))
        return Data(Array("RIFF".utf8) + little(4 + chunks.count, 4) + Array("WAVE".utf8) + chunks)
    }

    /// Two seconds as a FLAC has them in its headers, with Vorbis comments; the rating of 100.
    static func flac(_ tags: Tags, rating: Int? = nil) -> Data {
        // Block sizes, frame sizes, then 44,100 Hz, one channel, 16 bits, 88,200 samples, no sum.
        var info: [UInt8] = [0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]
        info += [0x0a, 0xc4, 0x40, 0xf0, 0, 1, 0x58, 0x88] + [UInt8](repeating: 0, count: 16)
        var lines = tags.named.map { "\($0.vorbis)=\($0.text)" }
        if let rating { lines.append("RATING=\(rating)") }
        var comment = little(4, 4) + Array("test".utf8) + little(lines.count, 4)
        for line in lines { comment += little(line.utf8.count, 4) + Array(line.utf8) }
        var blocks = block(0, info) + block(4, comment)
        if let cover = tags.cover {
            let head =
                big(3, 4) + big(9, 4) + Array("image/png".utf8) + [UInt8](repeating: 0, count: 20)
            blocks += block(6, head + big(cover.count, 4) + cover)
        }
        return Data(Array("fLaC".utf8) + blocks + block(0x81, [0, 0, 0, 0]))
    }

    /// Two seconds as a WMA has them in its headers, with a rating as Windows writes it.
    static func wma(rating: Int) -> Data {
        let file = object(
            0xA1DC_AB8C_47A9_CF11, 0x8EE4_00C0_0C20_5365,
            zeros(40) + little(20_000_000, 8) + zeros(32))
        var sound = zeros(54) + little(0x161, 2) + little(1, 2) + little(44_100, 4)
        sound += little(16_000, 4) + little(1, 2) + little(16, 2)
        let stream = object(0x9107_DCB7_B7A9_CF11, 0x8EE6_00C0_0C20_5365, sound)
        let name = Array("WM/SharedUserRating\0".utf8).flatMap { [$0, 0] as [UInt8] }
        var value = little(1, 2) + little(name.count, 2) + name
        value += little(3, 2) + little(4, 2) + little(rating, 4)
        let more = object(0x40A4_D0D2_07E3_D211, 0x97F0_00A0_C95E_A850, value)
        let all = little(3, 4) + [1, 2] + file + stream + more
        return Data(object(0x3026_B275_8E66_CF11, 0xA6D9_00AA_0062_CE6C, all))
    }

    private static func object(_ high: UInt64, _ low: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        let id = [high, low].flatMap { half in (0..<8).map { UInt8(half >> (56 - 8 * $0) & 0xff) } }
        return id + little(24 + bytes.count, 8) + bytes
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func block(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [type] + big(bytes.count, 3) + bytes
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(bytes.count, 4) + bytes + (bytes.count % 2 == 0 ? [] : [0])
    }

    private static func id3(_ tags: Tags) -> [UInt8] {
        var frames = tags.named.flatMap { frame($0.id3, [3] + Array($0.text.utf8)) }
        if let popularity = tags.popularity {
            frames += frame("POPM", Array("test".utf8) + [0, popularity, 0, 0, 0, 0])
        }
        if let cover = tags.cover {
            frames += frame("APIC", [0] + Array("image/png".utf8) + [0, 3, 0] + cover)
        }
        let size = frames.count
        let sizes = [21, 14, 7, 0].map { UInt8(size >> $0 & 0x7f) }
        return Array("ID3".utf8) + [4, 0, 0] + sizes + frames
    }

    private static func frame(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let sizes = [21, 14, 7, 0].map { UInt8(bytes.count >> $0 & 0x7f) }
        return Array(name.utf8) + sizes + [0, 0] + bytes
    }

    private static func little(_ number: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(number >> (8 * $0) & 0xff) }
    }

    private static func big(_ number: Int, _ bytes: Int) -> [UInt8] {
        little(number, bytes).reversed()
    }
}

extension AudioFile.Tags {
    /// The tags that are texts, by their names in ID3 and in Vorbis comments.
    fileprivate var named: [(id3: String, vorbis: String, text: String)] {
        [
            ("TIT2", "TITLE", title), ("TPE1", "ARTIST", artist), ("TALB", "ALBUM", album),
            ("TCON", "GENRE", genre), ("TRCK", "TRACKNUMBER", track), ("TDRC", "DATE", year),
        ].compactMap { id3, vorbis, text in text.map { (id3, vorbis, $0) } }
    }
}
