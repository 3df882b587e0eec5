import Foundation
import Testing

/// The direction of dependencies, as the table in ``HouseRules`` has it.
@Suite(.timeLimit(.minutes(3)))
struct DependencyTests {
    @Test(arguments: [
        ".", "Sources/AtriumKit", "Sources/AtriumKitTesting", "Sources/JSONCodec",
        "Sources/AtriumFormats",
    ])
    func `no target depends on more than it may see`(package: String) async throws {
        let manifest = try await Manifest(ofPackageIn: package)
        let targets = manifest.targets.filter { $0.type != "test" }
        #expect(!targets.isEmpty)
        for target in targets {
            let visible = try #require(
                HouseRules.visible[target.name], "\(target.name) has no rule: add one to HouseRules"
            )
            let forbidden = Set(target.dependencies.map(\.name)).subtracting(visible)
            #expect(forbidden.isEmpty, "\(target.name) may not depend on \(forbidden.sorted())")
        }
    }

    @Test(arguments: HouseRules.visible.keys.sorted())
    func `no source file imports more than its module may see`(module: String) throws {
        let folder = HouseRules.folder(of: module)
        let importable = HouseRules.importable(from: module)
        for file in try Repository.swiftFiles(below: [folder])
        where file.lastPathComponent != "Package.swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            for imported in imports(in: source) where !importable.contains(imported) {
                Issue.record("\(Repository.name(of: file)) imports \(imported)")
            }
        }
    }

    @Test func `every folder of sources has a rule`() throws {
        for folder in ["Sources", "plugins"] {
            let names = try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: folder).plainPath)
            #expect(Set(names).subtracting(HouseRules.visible.keys) == [], "in \(folder)")
        }
    }

    @Test func `imports are found in every spelling, and not in comments`() {
        let source = """
            // import Commented
            /// import Documented
            import Plain
            public import Opened
            @testable import Tested
            @preconcurrency package import Older
            import struct Module.Name
                import Indented  // why
            let text = "import"
            importer()
            """
        #expect(
            imports(in: source) == ["Plain", "Opened", "Tested", "Older", "Module", "Indented"])
    }
}
