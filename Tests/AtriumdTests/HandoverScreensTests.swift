import Control
import Glibc
import Host
import Systemd
import Testing

@testable import atriumd

/// The list of screens that outlives a crash: what a second process reads of it, at any moment.
@Suite(.timeLimit(.minutes(3))) struct HandoverScreensTests {
    /// Enough of it that the list is tidied up a few times: that drops history beyond 256 KiB.
    private static let rounds = 8_000

    private func screen(_ id: Int, _ search: String) -> KeptScreen {
        var screen = KeptScreen(
            id: ScreenID("screen-\(id)"), container: "films", owner: "unix:1", actor: nil,
            agent: "unix:1")
        screen.search = search
        return screen
    }

    /// What another process finds.
    private func found(_ list: HandoverScreens) throws -> [ScreenID: String]? {
        try HandoverScreens.screens(in: MemoryFile(descriptor: list.file.descriptor)).map {
            Dictionary($0.map { ($0.id, $0.search) }) { first, _ in first }
        }
    }

    @Test func `tidying up loses no screen, brings none back, and keeps the last choice`() throws {
        let list = try HandoverScreens()
        defer { close(list.file.descriptor) }
        var random = SystemRandomNumberGenerator()
        var expected: [ScreenID: String] = [:]
        // One that is never touched again, and one that goes at once.
        try list.write(.chosen(screen(1_000, "for ever")))
        expected[ScreenID("screen-1000")] = "for ever"
        try list.write(.chosen(screen(1_001, "gone")))
        try list.write(.gone(ScreenID("screen-1001")))
        var begins: Set<[UInt8]> = []
        for round in 0..<Self.rounds {
            let chosen = screen(.random(in: 0..<20, using: &random), "search \(round)")
            if round % 7 == 0 {
                try list.write(.gone(chosen.id))
                expected[chosen.id] = nil
            } else {
                try list.write(.chosen(chosen))
                expected[chosen.id] = chosen.search
            }
            let head = try list.file.read(most: 64)
            // Whenever the list was tidied up, and now and then.
            if begins.insert(head).inserted || round % 500 == 0 {
                #expect(try found(list) == expected, "round \(round)")
            }
        }
        #expect(begins.count > 3, "it was tidied up \(begins.count - 1) times")
        #expect(try found(list) == expected)
    }

    @Test func `a crash while tidying up leaves the list as it was`() throws {
        let list = try HandoverScreens()
        defer { close(list.file.descriptor) }
        try list.write(.chosen(screen(1, "one")))
        try list.write(.chosen(screen(2, "two")))
        try list.write(.gone(ScreenID("screen-2")))
        // The lines that count are behind the others already, and the head does not say so yet; the
        // last of them is cut.
        let line = ScreenNote.chosen(screen(1, "one")).line
        try list.file.write(line + line.dropLast(9), at: list.file.count)
        #expect(try found(list) == [ScreenID("screen-1"): "one"])
    }

    @Test func `memory of what is history is given back`() throws {
        let list = try HandoverScreens()
        defer { close(list.file.descriptor) }
        let long = String(repeating: "x", count: 4_000)
        for round in 0..<1_000 { try list.write(.chosen(screen(1, "\(round) \(long)"))) }
        var status = stat()
        #expect(fstat(list.file.descriptor, &status) == 0)
        #expect(status.st_size > 4_000_000)
        #expect(status.st_blocks * 512 < 600_000, "it takes \(status.st_blocks * 512) bytes")
        #expect(try found(list)?[ScreenID("screen-1")]?.hasPrefix("999 ") == true)
    }

    @Test(arguments: ["", "atrium screens 2 64", "atrium screens 1 12", "something else"])
    func `another version's list is not read`(head: String) throws {
        let file = try MemoryFile(named: "atrium-test")
        defer { close(file.descriptor) }
        let padding = String(repeating: " ", count: head.isEmpty ? 0 : 80 - head.utf8.count)
        try file.write(Array((head + padding).utf8), at: 0)
        #expect(try HandoverScreens.screens(in: file) == nil)
    }
}
