import Control
import Glibc
import Host

/// The folder `containers.d/`, with the administrator's definitions.
struct DefinitionFolder: Sendable {
    /// A file: its definitions, or the error in it.
    struct File: Sendable {
        let path: String
        let outcome: Result<[ContainerDefinition], any Error>
    }

    let path: String

    init(_ settings: DaemonSettings) {
        path = settings.configurationDirectory + "/containers.d"
    }

    /// The folder's `.yaml` and `.yml` files that are not hidden, ordered by name; none if there is no folder.
    ///
    /// If the folder can't be read, the result is one entry with the error. If several files define a container, the
    /// first one counts.
    func files() -> [File] {
        let names: [String]
        do {
            names = try self.names()
        } catch {
            return error.isMissing ? [] : [File(path: path, outcome: .failure(error))]
        }
        var owners: [String: String] = [:]
        return names.filter(Self.isDefinition).sorted().map {
            let file = path + "/" + $0
            let outcome = Result { try read(file, besides: owners) }
            for definition in (try? outcome.get()) ?? [] { owners[definition.name] = file }
            return File(path: file, outcome: outcome)
        }
    }

    /// Whether a name is that of a definition; editors keep locks and drafts beside one under hidden names.
    private static func isDefinition(_ name: String) -> Bool {
        !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
    }

    private func read(
        _ file: String, besides owners: [String: String]
    ) throws -> [ContainerDefinition] {
        let definitions = try DefinitionReader.read(TextFile.read(file), file: file)
        for definition in definitions {
            guard let owner = owners[definition.name] else { continue }
            throw DefinitionReader.problem(
                in: definition, file: file, at: .container,
                "the container '\(definition.name)' is defined in \(owner) already",
                hint: "that file counts, and nothing of this one: remove it from one of them")
        }
        return definitions
    }

    private func names() throws(FileProblem) -> [String] {
        guard let stream = opendir(path) else { throw FileProblem(path, errno: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
