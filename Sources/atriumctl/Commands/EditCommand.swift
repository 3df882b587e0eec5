import ArgumentParser
import Glibc
import Interfaces
import Varlink

struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a container's definition in $EDITOR.",
        discussion: """
            Opens what was last applied in $VISUAL, $EDITOR or vi, says what the change would do, and \
            on a yes applies it. A text that is no definition is not applied: the line is named, and \
            the editor opens again. What was not applied is kept in a file, which is named, also after \
            Ctrl-C.
            """,
        examples: "atriumctl edit films", "EDITOR=nano atriumctl edit films")

    @Argument(help: "The container.", completion: .containers)
    var container: String

    @Flag(name: .shortAndLong, help: "Apply what was changed, without a question.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    private enum Wish {
        case apply
        case edit
        case leave
    }

    func run() async throws {
        guard Draft.hasEditor || Question.isPossible else {
            throw CommandFailure(
                "there is no terminal to edit in",
                hint: "name an editor that needs none in EDITOR, or use 'describe --definition' "
                    + "and 'apply'.", status: .usage)
        }
        let session = try await connection.connect()
        let before = try await definition(session)
        try await checkRole(before, session)
        let draft = try Draft(container: container, text: before)
        var isNamed = false
        while true {
            try draft.edit()
            let text = try draft.text()
            guard text != before else {
                draft.remove()
                return Output.note("nothing was changed")
            }
            // For who ends a question with Ctrl-C, or loses the terminal.
            if Question.isPossible, !isNamed { Output.note("your text is in \(draft.path)") }
            isNamed = true
            do {
                try await show(text, draft, session)
            } catch let failure as CommandFailure where failure.status == .refused {
                try askAgain(after: failure, draft)
                continue
            }
            switch Interruption.watch(during: { wish }) {
            case .edit: continue
            case .leave where Interruption.isThere:
                throw draft.kept("nothing was applied", status: .interrupted)
            case .leave where !Question.isPossible:
                throw draft.kept("nothing was applied: there is nobody to ask, and no --yes")
            case .leave: throw draft.kept("nothing was applied")
            case .apply: break
            }
            guard try await definition(session) == before else {
                throw draft.kept("somebody else changed '\(container)' meanwhile")
            }
            do {
                try await apply(text, draft, session)
            } catch let failure as CommandFailure {
                throw draft.kept(failure.sentence, status: failure.status)
            }
            return draft.remove()
        }
    }

    private func definition(_ session: Session) async throws -> String {
        let reply = try await session.describe(container)
        guard let text = reply.definition else {
            throw CommandFailure("'\(container)' has no definition that could be edited")
        }
        return text
    }

    /// Makes sure that the user may apply the definition, before a text is written for nothing.
    private func checkRole(_ text: String, _ session: Session) async throws {
        let parameters = Containers.Apply.Parameters(
            definitions: [.init(file: "\(container).yaml", text: text)], dryRun: true)
        do {
            _ = try await session.sayingWait {
                try await session.client.call(Containers.Apply.self, parameters)
            }
        } catch let error as VarlinkRemoteError {
            // What else is wrong with the text is why it is edited.
            guard case .roleRequired? = InterfaceError(error) else { return }
            throw await session.explain(error)
        } catch {
            throw await session.explain(error)
        }
    }

    private func parameters(
        _ text: String, _ draft: Draft, isTrial: Bool
    ) -> Containers.Apply.Parameters {
        .init(
            definitions: [.init(file: draft.path, text: text)], dryRun: isTrial ? true : nil)
    }

    /// Says what a text would change.
    private func show(_ text: String, _ draft: Draft, _ session: Session) async throws {
        let reply = try await session.call(
            Containers.Apply.self, parameters(text, draft, isTrial: true))
        guard reply.results.count == 1, let result = reply.results.first,
            result.container == container
        else {
            let names = reply.results.map(\.container).joined(separator: ", ")
            throw CommandFailure(
                "this defines \(names.isEmpty ? "nothing" : names), not '\(container)' alone",
                hint: "'atriumctl apply -f FILE' makes other containers.")
        }
        for line in TextChange.lines(from: try await definition(session), to: text) {
            Output.note(PrintableText.line(line))
        }
        for change in result.changes { Output.note(PrintableText.line("  \(change)")) }
        if result.changes.isEmpty { Output.note("  nothing but the text changes") }
    }

    private var wish: Wish {
        if yes { return .apply }
        guard Question.isPossible else { return .leave }
        return switch Question.answer("Apply it? [y/N, e to edit again]") {
        case "y", "yes": .apply
        case "e", "edit": .edit
        default: .leave
        }
    }

    private func askAgain(after failure: CommandFailure, _ draft: Draft) throws {
        for line in failure.lines { Output.note(line) }
        let isWanted = Interruption.watch {
            Question.isPossible && Question.isYes("Edit it again?", byDefault: true)
        }
        guard isWanted else {
            throw draft.kept(
                "nothing was applied", status: Interruption.isThere ? .interrupted : .refused,
                isRefused: true)
        }
    }

    private func apply(_ text: String, _ draft: Draft, _ session: Session) async throws {
        guard
            let reply = try await session.answer(
                Containers.Apply.self, parameters(text, draft, isTrial: false))
        else { return }
        for result in reply.results {
            Output.line("\(PrintableText.line(result.container)) \(result.action.rawValue)")
        }
    }
}

/// A text that is open in an editor, in a folder of its own that is this user's alone.
private struct Draft {
    let path: String
    private let folder: String
    /// The text as it was written.
    private let original: String

    init(container: String, text: String) throws {
        var template = Array(
            "\(Terminal.environment("TMPDIR") ?? "/tmp")/atrium-edit-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw CommandFailure("no folder for the text: \(String(cString: strerror(errno)))")
        }
        folder = String(cString: made)
        path = "\(folder)/\(container).yaml"
        original = text
        do {
            try InputFile.write(text, to: path)
        } catch {
            rmdir(folder)
            throw error
        }
    }

    /// Opens it in the editor, and waits until that has ended.
    func edit() throws {
        let editor = Self.wish ?? "vi"
        let status = system("\(editor) \(DefinitionText.shell(path))")
        guard status == 0 else {
            // The status of a shell that finds no program.
            let isMissing = (status >> 8) & 0xFF == 127
            throw kept(
                isMissing
                    ? "there is no editor '\(editor)', and nothing was applied"
                    : "the editor '\(editor)' failed, and nothing was applied")
        }
    }

    /// Whether somebody chose an editor, which may need no terminal.
    static var hasEditor: Bool { wish != nil }

    private static var wish: String? {
        ["VISUAL", "EDITOR"].lazy.compactMap(Terminal.environment).first { !$0.isEmpty }
    }

    func text() throws -> String { try InputFile.text(path) }

    func remove() {
        unlink(path)
        rmdir(folder)
    }

    /// A failure that says where the text is; one that nobody changed is not kept.
    func kept(
        _ sentence: String, status: CommandFailure.Status = .refused, isRefused: Bool = false
    ) -> CommandFailure {
        guard (try? text()) != original else {
            remove()
            return CommandFailure(sentence, status: status)
        }
        return CommandFailure(
            sentence,
            hint: "your text is kept: \(isRefused ? "once it is corrected, " : "")"
                + "'atriumctl apply -f \(path)' applies it.",
            status: status)
    }
}
