import Control
import Host
import NIOCore

/// Applies definitions, and locates errors in their files.
struct DefinitionApplication: Sendable {
    /// The result of applying a file.
    struct Outcome: Sendable {
        var results: [ApplyResult] = []
        var problem: (any Error)?
        /// Whether a definition was only tried up to a secret that only the service can read.
        var lacksSecret = false
    }

    let registry: Registry
    let loop: any EventLoop
    /// Whether to only try the definitions, without applying them.
    var dryRun = false

    /// Applies several files concurrently; returns the outcomes, in the order of the files.
    func apply(_ files: [DefinitionFolder.File]) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (place, file) in files.enumerated() {
                group.addTask { (place, await apply(file)) }
            }
            var outcomes = [Outcome](repeating: Outcome(), count: files.count)
            for await (place, outcome) in group { outcomes[place] = outcome }
            return outcomes
        }
    }

    /// Applies a file's definitions: all of them or none.
    func apply(_ file: DefinitionFolder.File) async -> Outcome {
        do {
            let definitions = try file.outcome.get()
            do {
                return Outcome(results: try await apply(definitions, dryRun: dryRun))
            } catch let error as HostError {
                if error.isOfSecretNotRead { return Outcome(lacksSecret: true) }
                // The error does not say which definition it is about, so each is tried.
                for definition in definitions.dropLast() {
                    do {
                        _ = try await apply([definition], dryRun: true)
                    } catch let error as HostError {
                        throw error.problem(in: definition, file: file.path)
                    }
                }
                throw definitions.last.map { error.problem(in: $0, file: file.path) as any Error }
                    ?? error
            }
        } catch {
            return Outcome(problem: error)
        }
    }

    private func apply(
        _ definitions: [ContainerDefinition], dryRun: Bool
    ) async throws -> [ApplyResult] {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute {
                registry.structure.apply(
                    definitions, dryRun: dryRun, prune: false,
                    by: Caller(actor: "unix:\(ownUser)", isModerator: true)
                ) { continuation.resume(with: $0.map(\.results)) }
            }
        }
    }
}
