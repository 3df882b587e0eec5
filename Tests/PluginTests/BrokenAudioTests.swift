import AtriumKit
import AtriumKitTesting
import Foundation
import Music
import Testing

/// Files as strangers make them.
@Suite struct BrokenAudioTests {
    private func count(_ host: MemoryHost) -> Int {
        host.restore([]).reduce(0) { count, event in
            guard case .contents(.insert(let items)) = event else { return count }
            return count + items.count
        }
    }

    @Test func `whatever stands in a file, nothing worse than a problem comes of it`() async throws
    {
        let folder = try MusicFolder()
        var random = Steps()
        let tags = AudioFile.Tags(
            title: "T", artist: "A", popularity: 3, cover: [UInt8](repeating: 7, count: 300))
        let files = [
            ("mp3", AudioFile.mp3(tags)), ("wav", AudioFile.wav(tags)),
            ("flac", AudioFile.flac(tags)), ("ogg", AudioFile.flac(tags)),
            ("m4a", AudioFile.wav(tags)), ("opus", AudioFile.mp3(tags)),
        ]
        for number in 0..<300 {
            var (ending, bytes) = files[number % files.count]
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                // In the headers and tags, where it matters.
                let place = Int.random(in: 0..<min(900, bytes.count), using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            try folder.write(
                "\(number).\(ending)",
                bytes.prefix(Int.random(in: 0...(2 * bytes.count), using: &random)))
        }
        let host = try MemoryHost(Music.self, settings: ["folder": .text(folder.path)])
        await host.settle()
        #expect(host.services.problem != nil)
        #expect(count(host) < 300)
    }
}

/// The same numbers in each run.
private struct Steps: RandomNumberGenerator {
    private var state: UInt64 = 14

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 33
    }
}
