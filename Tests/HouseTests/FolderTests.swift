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

    @Test func `no folder of Host uses what a folder that it may not know adds to others' types`()
        throws
    {
        let folders = try HostFolder.all()
        let places = Dictionary(
            folders.flatMap { folder in
                folder.files.flatMap { file in file.members.map { ($0, [folder.name]) } }
            }, uniquingKeysWith: +)
        for owner in folders {
            // A name that several folders declare may be another's.
            let added = owner.added.filter { places[$0].map { Set($0).count == 1 } ?? false }
            for folder in folders
            where folder.name != owner.name
                && HouseRules.hostFolders[folder.name]?.contains(owner.name) != true
            {
                for file in folder.files {
                    let used = added.filter(file.uses)
                    #expect(
                        used.isEmpty,
                        "\(folder.name)/\(file.name) uses \(used.sorted()), which \(owner.name) adds"
                    )
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

    @Test func `members that extensions add are found, and where they are used`() {
        let file = HostFile(
            name: "",
            source: """
                extension Container {
                    func closure(_ kind: Kind) -> HostError? {
                        let local = 1
                        return other.used(local)
                    }
                    static let fewest = 2
                }
                struct Own { func method() {} }
                """)
        #expect(file.extensions["Container"] == ["closure", "fewest"])
        #expect(file.members == ["closure", "local", "fewest", "method"])
        #expect(file.uses("used") && !file.uses("closure") && !file.uses("Own"))
    }
}

/// A folder of Host, with what its files declare and name.
private struct HostFolder {
    var name: String
    var files: [HostFile]
    /// The types that are declared in it, on the outermost level.
    var types: Set<String> { files.reduce(into: []) { $0.formUnion($1.types) } }
    /// The members that its extensions add to types of other folders and modules.
    var added: Set<String> {
        files.reduce(into: []) { added, file in
            for (type, members) in file.extensions where !types.contains(type) {
                added.formUnion(members)
            }
        }
    }

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
    /// The names of all members and local constants that it declares.
    var members: Set<String>
    /// The members that it adds to types by extensions on the outermost level.
    var extensions: [String: Set<String>]
    /// The names that it calls, or that stand behind a dot.
    private var used: Set<String>

    /// Whether it uses a member of this name.
    func uses(_ name: String) -> Bool { used.contains(name) }

    init(name: String, source: String) {
        self.name = name
        let code = source.replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "\"\"").replacing(
            #/\/\/.*/#, with: "")
        let declaration =
            #/(?:^|\n)(?:@?\w+ )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/#
        types = Set(code.matches(of: declaration).map { String($0.1) })
        words = Set(code.matches(of: #/\b[A-Z]\w+/#).map { String($0.0) })
        let member = #/\b(?:func|var|let|case) (\w+)/#
        members = Set(code.matches(of: member).map { String($0.1) })
        used = Set(code.matches(of: #/\.(\w+)/#).map { String($0.1) })
            .union(
                code.matches(of: #/(?:^|[^\w.])(func )?([a-z]\w*)\(/#)
                    .filter { $0.1 == nil }.map { String($0.2) })
        extensions = [:]
        // As the formatter lays it out: members of an extension stand four columns in, its end in none.
        for part in code.matches(of: #/(?s)(?:^|\n)(?:\w+ )*extension (\w+)[^{]*\{(.*?)\n\}/#) {
            let own = part.2.matches(of: #/\n {4}(?:@?\w+(?:\(\w+\))? )*(?:func|var|let) (\w+)/#)
            extensions[String(part.1), default: []].formUnion(own.map { String($0.1) })
        }
    }
}
