import Subprocess
import SystemPackage

/// A command that runs beside a test.
public struct RunningCommand {
    /// Its process.
    public let pid: Int32

    fileprivate var lines: SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    fileprivate let input: StandardInputWriter

    /// The next line that it prints, waited for.
    ///
    /// - Throws: ``NoMoreLines`` when it ends before.
    public mutating func next() async throws -> String {
        guard let line = try await lines.next() else { throw NoMoreLines() }
        return line
    }

    /// Writes to its standard input.
    public func write(_ text: String) async throws { _ = try await input.write(text) }
}

/// A command ended before it printed what was waited for.
public struct NoMoreLines: Error {
    /// Nothing else is known.
    public init() {}
}

/// Runs a command beside a test, and ends it afterwards, politely first.
///
/// Its standard input ends with the test, also when the test is killed.
///
/// - Parameters:
///   - words: a program, by its path or by its name in `PATH`, and its arguments.
///   - environment: variables to set, or with nil to take away.
///   - folder: where it runs; by default where the test does.
///   - body: what is done meanwhile.
/// - Returns: what `body` returns.
/// - Throws: what kept it from being run, and what `body` throws.
public func withRunning<Value: Sendable>(
    _ words: [String], environment: [String: String?] = [:], in folder: String? = nil,
    _ body: (inout RunningCommand) async throws -> Value
) async throws -> Value {
    let end = [TeardownStep.gracefulShutDown(allowedDurationToNextStep: .seconds(5))]
    var options = PlatformOptions()
    options.teardownSequence = end
    return try await Subprocess.run(
        executable(words[0]), arguments: Arguments(Array(words.dropFirst())),
        environment: .inherit.updating(environment.keyed),
        workingDirectory: folder.map { FilePath($0) }, platformOptions: options,
        input: .inputWriter, output: .sequence, error: .currentStandardError
    ) { execution in
        var running = RunningCommand(
            pid: execution.processIdentifier.value,
            lines: execution.standardOutput.strings().makeAsyncIterator(),
            input: execution.standardInputWriter)
        let value = try await body(&running)
        await execution.teardown(using: end)
        return value
    }.closureResult
}
