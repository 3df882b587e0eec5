import Foundation
import Host
import Logging
import Workers

do {
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    switch arguments {
    case .help: print(Arguments.usage)
    case .serve(let code, let id, let identity, let walls):
        // Before there is a second thread, which would stand outside.
        try walls.raise()
        try await withTaskExecutorPreference(QuietExecutor.shared) {
            try await WorkerProgram.serve(
                code, id: id, identity: identity, logger: Logger(label: "atrium-worker"))
        }
    case .describe(let code, let kind, let id, let identity, let walls):
        try walls.raise()
        try WorkerDescription.serve(code, kind: kind, id: id, identity: identity)
    case .check(let path, let id, let settings, let examples, let seed, let callSeconds):
        let check = Check(
            path: path, id: id, settings: settings, examples: examples, seed: seed,
            callSeconds: callSeconds)
        guard await check.run() else { exit(1) }
    }
} catch let error as Arguments.Mistake {
    complain("\(error.reason)\n\(Arguments.usage)")
    exit(2)
} catch {
    complain("\(error)")
    exit(1)
}

func complain(_ text: String) {
    FileHandle.standardError.write(Data("atrium-worker: \(text)\n".utf8))
}
