import ArgumentParser
import Interfaces

struct ScreenScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope", abstract: "Go to another scope of the container.",
        discussion: "Keeps filters, search, sort and limits; leaves the entered items.",
        examples: "atriumctl screen scope d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j past")

    @OptionGroup var options: ScreenOptions

    @Argument(help: "The scope's name.", completion: .scopes)
    var scope: String

    func run() async throws {
        try await options.work(
            Screens.SetScope.self, .init(screen: options.screen, scope: scope, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenEnterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enter", abstract: "Show the children of an item.",
        examples: "atriumctl screen enter d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j saga")

    @OptionGroup var options: ScreenOptions

    @Argument(help: "The item's id.", transform: Target.id)
    var item: String

    func run() async throws {
        try await options.work(
            Screens.Enter.self, .init(screen: options.screen, item: item, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenBackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "back", abstract: "Go back to where 'enter' was called.",
        examples: "atriumctl screen back d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j")

    @OptionGroup var options: ScreenOptions

    func run() async throws {
        try await options.work(Screens.Back.self, .init(screen: options.screen, part: options.part))
        { $0.revision }
    }
}

struct ScreenFocusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus", abstract: "Show an item's votes and comments beside the list.",
        examples: "atriumctl screen focus d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j alien-1979")

    @OptionGroup var options: ScreenOptions

    @Argument(
        help: "The item's id; by default those of the container itself.", transform: Target.id)
    var item: String?

    func run() async throws {
        try await options.work(
            Screens.Focus.self, .init(screen: options.screen, item: item, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenHideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: "Hide a component on this screen only.",
        discussion: "'atriumctl hide' hides it on all screens of a container.",
        examples: "atriumctl screen hide d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j talk")

    @OptionGroup var visibility: ScreenVisibility

    func run() async throws { try await visibility.set(hidden: true) }
}

struct ScreenShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a component again that this screen hid.",
        examples: "atriumctl screen show d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j talk")

    @OptionGroup var visibility: ScreenVisibility

    func run() async throws { try await visibility.set(hidden: false) }
}

/// What `screen hide` and `screen show` have in common.
struct ScreenVisibility: ParsableArguments {
    @OptionGroup var options: ScreenOptions

    @Argument(help: "The component.")
    var component: String

    func set(hidden: Bool) async throws {
        try await options.work(
            Screens.SetHidden.self,
            .init(screen: options.screen, component: component, hidden: hidden, part: options.part)
        ) { $0.revision }
    }
}

struct ScreenActivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Choose an item: the container is notified.",
        examples: "atriumctl screen activate d0t1ts5r-9j84vgctfjjbf9m2dwfzsfgc1j alien-1979")

    @OptionGroup var options: ScreenOptions

    @Argument(help: "The item's id.", transform: Target.id)
    var item: String

    func run() async throws {
        let parameters = Screens.Activate.Parameters(
            screen: options.screen, item: item, part: options.part)
        try await options.connection.connect().report(Screens.Activate.self, parameters) { reply in
            "chose \(item)" + (reply.sequence.map { " as #\($0)" } ?? "")
        }
    }
}
