import Foundation
import Testing

/// The direction of the arrows between the folders of Host, as the table in ``HouseRules`` has it.
@Suite struct FolderTests {
    @Test func `no folder of Host names a type of a folder that it may not know`() throws {
        let folders = try HostFolder.all()
        #expect(Set(folders.map(\.name)) == Set(HouseRules.hostFolders.keys))
        for folder in folders {
            let known = HouseRules.hostFolders[folder.name] ?? []
            for other in folders where other.name != folder.name && !known.contains(other.name) {
                for file in folder.files {
                    let named = file.words.intersection(other.types).subtracting(folder.types)
                    #expect(
                        named.isEmpty,
                        "\(folder.name)/\(file.name) names \(named.sorted()) of \(other.name)")
                }
            }
        }
    }

    @Test func `a folder of Host knows folders that come before it alone`() {
        var sorted: Set<String> = []
        var rest = HouseRules.hostFolders
        while let next = rest.first(where: { $0.value.isSubset(of: sorted) })?.key {
            sorted.insert(next)
            rest[next] = nil
        }
        #expect(rest.isEmpty, "these folders know each other in a circle: \(rest.keys.sorted())")
    }

    @Test func `types and names are found in every spelling, and not in comments or texts`() {
        let file = HostFile(
            name: "",
            source: """
                /// Of Documented things.
                public final class Open: Base {
                    private struct Inner {}  // and Commented ones
                    let text = "a Quoted \\" thing" + Named.text
                }
                indirect enum Tree { case leaf(Leaf) }
                public typealias Answer<Value> = (Result<Value, any Error>) -> Void
                """)
        #expect(file.types == ["Open", "Tree", "Answer"])
        #expect(file.words.isSuperset(of: ["Base", "Named", "Leaf"]))
        #expect(file.words.isDisjoint(with: ["Documented", "Commented", "Quoted"]))
    }
}

/// A folder of Host, with what its files declare and name.
private struct HostFolder {
    var name: String
    var files: [HostFile]
    /// The types that are declared in it, on the outermost level.
    var types: Set<String> { files.reduce(into: []) { $0.formUnion($1.types) } }

    static func all() throws -> [HostFolder] {
        let files = try Repository.swiftFiles(below: ["Sources/Host"])
        return try Dictionary(grouping: files) { $0.deletingLastPathComponent().lastPathComponent }
            .map { name, files in
                HostFolder(
                    name: name,
                    files: try files.map {
                        HostFile(
                            name: $0.lastPathComponent,
                            source: try String(contentsOf: $0, encoding: .utf8))
                    })
            }
    }
}

private struct HostFile {
    var name: String
    /// The types that it declares on the outermost level.
    var types: Set<String>
    /// All words in it that begin with a capital.
    var words: Set<String>

    init(name: String, source: String) {
        self.name = name
        let code = source.replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "\"\"").replacing(
            #/\/\/.*/#, with: "")
        let declaration =
            #/(?:^|\n)(?:@?\w+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
        types = Set(code.matches(of: declaration).map { String($0.1) })
        words = Set(code.matches(of: #/\b[A-Z]\w+/#).map { String($0.0) })
    }
}
