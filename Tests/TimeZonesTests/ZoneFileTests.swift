import Foundation
import TestSupport
import Testing
import TimeZones

/// Files that are no time zones, and names that are none.
struct ZoneFileTests {
    private let rome: [UInt8]

    init() throws {
        let url = URL(filePath: "/usr/share/zoneinfo/Europe/Rome")
        rome = Array(try Data(contentsOf: url))
    }

    @Test func `a file that is cut off is refused, wherever that is`() {
        for length in 0..<rome.count {
            #expect(throws: ZoneFileProblem.self, "\(length) bytes") {
                try Zone(name: "Rome", file: Array(rome.prefix(length)))
            }
        }
    }

    @Test func `whatever a byte is, a file is read or refused`() throws {
        var (read, refused) = (0, 0)
        for place in rome.indices {
            for byte in [0, 1, 0x7F, 0x80, 0xFF, rome[place] ^ 1] as [UInt8] {
                var bytes = rome
                bytes[place] = byte
                guard let zone = try? Zone(name: "Rome", file: bytes) else {
                    refused += 1
                    continue
                }
                read += 1
                for moment in stride(from: Int64(-1) << 50, through: 1 << 50, by: 1 << 48) {
                    _ = zone.moment(showing: moment)
                    _ = zone.offset(at: moment)
                }
            }
        }
        #expect(read > 0 && refused > 0)
    }

    @Test(arguments: [20, 24, 28, 32, 36, 40])
    func `a count of four billion is refused`(place: Int) throws {
        let second = try #require(rome.secondHeader)
        for header in [0, second] {
            var bytes = rome
            for byte in 0..<4 { bytes[header + place + byte] = 0xFF }
            #expect(throws: ZoneFileProblem.self) { try Zone(name: "Rome", file: bytes) }
        }
    }

    @Test(arguments: [
        ("", true), ("UTC0", true), ("CET-1CEST,M3.5.0,M10.5.0/3", true),
        ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", true), ("IST-2IDT,M3.4.4/26,M10.5.0", true),
        ("XXX3EDT4,0/0,J365/23", true), ("CET", false), ("CE-1", false), ("CET-1CEST", false),
        ("CET-1CEST,M13.5.0,M10.5.0", false), ("CET-1CEST,M3.6.0,M10.5.0", false),
        ("CET-1CEST,M3.5.7,M10.5.0", false), ("CET-1CEST,J0,J366", false),
        ("CET-1CEST,M3.5.0/168,M10.5.0", false), ("CET-25", false), ("<CET-1", false),
        ("CET-1CEST,M3.5.0,M10.5.0 ", false), ("CET-99999999999999999999", false),
    ])
    func `a rule is read as a whole, or the file refused`(rule: String, isRule: Bool) {
        let end = rome.dropLast().lastIndex(of: UInt8(ascii: "\n")) ?? 0
        let bytes = rome[...end] + Array(rule.utf8) + [UInt8(ascii: "\n")]
        let zone = try? Zone(name: "Rome", file: Array(bytes))
        #expect((zone != nil) == isRule)
    }

    @Test func `summer all year is summer`() throws {
        let end = rome.dropLast().lastIndex(of: UInt8(ascii: "\n")) ?? 0
        let bytes = rome[...end] + Array("EST5EDT,0/0,J365/25\n".utf8)
        let zone = try Zone(name: "East", file: Array(bytes))
        for day in Int64(25_000)...27_000 { #expect(zone.offset(at: day * 86_400) == -4 * 3_600) }
    }

    @Test(arguments: [
        "../../etc/passwd", "Europe/../Europe/Rome", "/usr/share/zoneinfo/Europe/Rome",
        "Europe//Rome", "Europe/", "/", "", ".", "Europe/Rome\0", "tzdata.zi", "Europe/Röme",
        String(repeating: "a", count: 101),
    ])
    func `a name that leads elsewhere is none`(name: String) {
        let problem = #expect(throws: ZoneProblem.self) { try ZoneDirectory.system.zone(name) }
        #expect(problem?.description.hasSuffix("is no time zone's name") == true)
    }

    @Test func `what there is none of is said, with what to do`() throws {
        let missing = #expect(throws: ZoneProblem.self) {
            try ZoneDirectory.system.zone("Europe/Roma")
        }
        #expect(
            missing?.description == "there is no time zone 'Europe/Roma' in /usr/share/zoneinfo")
        #expect(ZoneDirectory.system.names(beside: "Europe/Roma").contains("Europe/Rome"))
        let empty = try TemporaryDirectory()
        let none = #expect(throws: ZoneProblem.self) {
            try ZoneDirectory(empty.path).zone("Europe/Rome")
        }
        #expect(none?.hint == "install tzdata")
        let folder = #expect(throws: ZoneProblem.self) { try ZoneDirectory.system.zone("Europe") }
        #expect(folder?.description.hasSuffix("is no file of a time zone") == true)
    }

    @Test func `neither a pipe nor a huge file holds anybody up`() throws {
        let folder = try TemporaryDirectory()
        try #require(mkfifo("\(folder.path)/Pipe", 0o600) == 0)
        try Data(count: 1 << 20).write(to: URL(filePath: "\(folder.path)/Huge"))
        for name in ["Pipe", "Huge"] {
            #expect(throws: ZoneProblem.self) { try ZoneDirectory(folder.path).zone(name) }
        }
    }
}

extension [UInt8] {
    /// Where the header of the part with 64-bit times begins.
    fileprivate var secondHeader: Int? {
        dropFirst().indices.first { self[$0...].starts(with: Array("TZif".utf8)) }
    }
}
