import Control
import Foundation
import Host

/// The definitions that an administrator put into `containers.d/`.
struct DefinitionFolder: Sendable {
    /// One file: its definitions, or what is wrong with it.
    struct File: Sendable {
        let path: String
        let outcome: Result<[ContainerDefinition], DefinitionProblem>
    }

    let path: String

    /// The folder beside the configuration file.
    init(_ settings: DaemonSettings) {
        path = settings.configurationDirectory + "/containers.d"
    }

    /// Its `.yaml` files by name; none when there is no such folder.
    func files() -> [File] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted().map {
            read(path + "/" + $0)
        }
    }

    private func read(_ file: String) -> File {
        do {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            return File(path: file, outcome: .success(try DefinitionReader.read(text, file: file)))
        } catch let problem as DefinitionProblem {
            return File(path: file, outcome: .failure(problem))
        } catch {
            let problem = DefinitionProblem(
                file: file, line: 1, column: 1,
                reason: "can't be read: \(error.localizedDescription)")
            return File(path: file, outcome: .failure(problem))
        }
    }
}
