import Control
import Glibc
import Host

/// The definitions that an administrator put into `containers.d/`.
struct DefinitionFolder: Sendable {
    /// One file: its definitions, or what is wrong with it.
    struct File: Sendable {
        let path: String
        let outcome: Result<[ContainerDefinition], any Error>
    }

    let path: String

    /// The folder beside the configuration file.
    init(_ settings: DaemonSettings) {
        path = settings.configurationDirectory + "/containers.d"
    }

    /// Its `.yaml` files by name; none when there is no such folder.
    ///
    /// A folder that can't be read stands for all of them. Of files that define the same container
    /// the first counts.
    func files() -> [File] {
        let names: [String]
        do {
            names = try self.names()
        } catch {
            return error.isMissing ? [] : [File(path: path, outcome: .failure(error))]
        }
        var owners: [String: String] = [:]
        return names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted().map {
            let file = path + "/" + $0
            let outcome = Result { try read(file, besides: owners) }
            for definition in (try? outcome.get()) ?? [] { owners[definition.name] = file }
            return File(path: file, outcome: outcome)
        }
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
