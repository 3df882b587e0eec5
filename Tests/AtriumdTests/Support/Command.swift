import Foundation
import JSONCodec
import Subprocess
import SystemPackage

/// What a command did that has ended.
struct Finished: Sendable, CustomStringConvertible {
    /// The exit status; 128 and the number for a signal, as a shell says it.
    let status: Int
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Standard output, read as JSON.
    var json: JSONValue { get throws { try JSON.decode(from: output) } }

    /// Standard output, a JSON value on each line.
    var jsonLines: [JSONValue] { get throws { try lines.map { try JSON.decode(from: $0) } } }

    var description: String { "status \(status)\n\(output)\(errors)" }
}

/// Runs a command to its end: a program, looked for in `PATH`, and its arguments, with variables to
/// set, or with nil to take away.
func run(
    _ words: [String], environment: [String: String?] = [:], in folder: String? = nil
) async throws -> Finished {
    let limit = 64 << 20
    let result = try await Subprocess.run(
        executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
        environment: .inherit.updating(environment.keyed),
        workingDirectory: folder.map { FilePath($0) },
        output: .string(limit: limit), error: .string(limit: limit))
    return Finished(
        status: result.terminationStatus.number, output: result.standardOutput,
        errors: result.standardError)
}

/// A program by its path, or by its name in `PATH`.
func executable(_ word: String) -> Executable {
    word.contains("/") ? .path(FilePath(word)) : .name(word)
}

extension TerminationStatus {
    /// As a shell says it.
    var number: Int {
        switch self {
        case .exited(let code): Int(code)
        case .signaled(let signal): 128 + Int(signal)
        }
    }
}

extension [String: String?] {
    /// Variables as Subprocess takes them.
    var keyed: [Environment.Key: String?] {
        [Environment.Key: String?](
            uniqueKeysWithValues: map { name, value in
                (Environment.Key(stringLiteral: name), value)
            })
    }
}
