import Foundation
import Testing

/// What holds for every source file of ours.
struct SourceFileTests {
    private let folders = ["Sources", "plugins", "Tests", "Benchmarks"]

    @Test func `no file is longer than 500 lines`() throws {
        for file in try Repository.swiftFiles(below: folders) {
            let lines = try Data(contentsOf: file).count { $0 == UInt8(ascii: "\n") }
            #expect(lines <= 500, "\(Repository.name(of: file)) has \(lines) lines")
        }
    }

    /// It looks up the owner's name whatever it is asked for, in a directory of users that may hang.
    @Test func `the daemon does not ask Foundation for what is known of a file`() throws {
        for file in try Repository.swiftFiles(below: ["Sources"]) {
            let name = Repository.name(of: file)
            guard !name.contains("Sources/atriumctl/"), !name.contains("Sources/atrium-worker/")
            else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(/\.attributesOfItem\(|\.resourceValues\(/), "\(name)")
        }
    }

    @Test func `no file is named after nothing in particular`() throws {
        for file in try Repository.swiftFiles(below: folders) {
            let vague = file.lastPathComponent.contains(/Util|Helper|Manager|Misc|Common\b/)
            #expect(!vague, "\(Repository.name(of: file)): name it after what it holds")
        }
    }
}
