import ArgumentParser
import Interfaces

/// What is closed, or opened again: both where neither is named.
struct Openness: ParsableArguments {
    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Flag(help: "Only votes; by default votes and comments.")
    var votes = false

    @Flag(help: "For comments.")
    var comments = false

    @OptionGroup var connection: ConnectionOptions

    func set(open: Bool) async throws {
        let isBoth = votes == comments
        let session = try await connection.connect()
        let parameters = Containers.SetOpen.Parameters(
            container: container, votes: votes || isBoth ? open : nil,
            comments: comments || isBoth ? open : nil)
        guard try await session.answer(Containers.SetOpen.self, parameters) != nil else { return }
        // It is done, whatever comes of this call.
        let kinds = try? await session.describe(container).container.components.map(\.kind)
        let named = isBoth ? ["votes", "comments"] : votes ? ["votes"] : ["comments"]
        let there = named.filter { kinds?.contains($0) ?? true }
        let what = (there.isEmpty ? named : there).joined(separator: " and ")
        Output.line(
            PrintableText.line("\(container) is \(open ? "open" : "closed") for \(what)"))
        if there.isEmpty {
            let what = named.joined(separator: " or ")
            Output.note(PrintableText.line("\(container) has no component of the kind \(what)"))
        }
    }
}

struct CloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Accept no more votes or comments (moderators).",
        discussion: "Existing votes and comments stay visible; 'atriumctl reopen' ends it.",
        examples: "atriumctl close films --votes")

    @OptionGroup var openness: Openness

    func run() async throws { try await openness.set(open: false) }
}

struct ReopenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen", abstract: "Accept votes or comments again (moderators).",
        examples: "atriumctl reopen films")

    @OptionGroup var openness: Openness

    func run() async throws { try await openness.set(open: true) }
}
