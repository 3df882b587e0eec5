import Foundation
import Testing

/// What docs/architecture.md says of the house.
@Suite struct ArchitectureTests {
    @Test func `each file that the architecture names is there`() throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let paths = page.matches(of: #/`([A-Za-z0-9+\/_-]+\.swift)`/#).map { String($0.1) }
        #expect(paths.count > 40)
        for path in Set(paths) {
            let isTop = path.hasPrefix("plugins/") || path.hasPrefix("Tests/")
            let file = Repository.root.appending(path: isTop ? path : "Sources/\(path)")
            #expect(FileManager.default.fileExists(atPath: file.plainPath), "\(path)")
        }
    }
}
