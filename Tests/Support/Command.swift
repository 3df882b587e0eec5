public import JSONCodec
public import Subprocess
import SystemPackage

/// What a command did that has ended.
public struct Finished: Sendable, CustomStringConvertible {
    /// The exit status; 128 and the number for a signal, as a shell says it.
    public let status: Int

    /// What it wrote to standard output.
    public let output: String

    /// What it wrote to standard error.
    public let errors: String

    /// The lines of standard output that are not empty.
    public var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Standard output, read as JSON.
    public var json: JSONValue { get throws { try JSON.decode(from: output) } }

    /// Standard output, a JSON value on each line.
    public var jsonLines: [JSONValue] { get throws { try lines.map { try JSON.decode(from: $0) } } }

    /// All of it, for a test that fails.
    public var description: String { "status \(status)\n\(output)\(errors)" }
}

/// Runs a command to its end.
///
/// Not through Foundation's `Process`: a child of that has the signals blocked that the thread blocks
/// on which the test happens to run, SIGTERM and SIGALRM among them, and `timeout` ends nothing then.
/// A test that exceeds its time limit ends the command, politely first.
///
/// - Parameters:
///   - words: a program, by its path or by its name in `PATH`, and its arguments.
///   - environment: variables to set, or with nil to take away.
///   - folder: where it runs; by default where the test does.
///   - input: what it reads from standard input.
/// - Returns: how it ended, and what it wrote: at most 64 MiB to each of its outputs.
/// - Throws: what kept it from being run.
public func run(
    _ words: [String], environment: [String: String?] = [:], in folder: String? = nil,
    input: String = ""
) async throws -> Finished {
    let limit = 64 << 20
    var options = PlatformOptions()
    options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(20))]
    let result = try await Subprocess.run(
        executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
        environment: .inherit.updating(environment.keyed),
        workingDirectory: folder.map { FilePath($0) }, platformOptions: options,
        input: .string(input), output: .string(limit: limit),
        error: .string(limit: limit))
    return Finished(
        status: result.terminationStatus.number, output: result.standardOutput,
        errors: result.standardError)
}

/// A program by its path, or by its name in `PATH`.
public func executable(_ word: String) -> Executable {
    word.contains("/") ? .path(FilePath(word)) : .name(word)
}

extension TerminationStatus {
    /// As a shell says it.
    public var number: Int {
        switch self {
        case .exited(let code): Int(code)
        case .signaled(let signal): 128 + Int(signal)
        }
    }
}

extension [String: String?] {
    /// Variables as Subprocess takes them.
    public var keyed: [Environment.Key: String?] {
        [Environment.Key: String?](
            uniqueKeysWithValues: map { name, value in
                (Environment.Key(stringLiteral: name), value)
            })
    }
}
