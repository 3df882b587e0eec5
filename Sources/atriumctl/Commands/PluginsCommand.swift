import ArgumentParser
import Interfaces
import JSONCodec

struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "List the plugins that the daemon found.",
        examples: "atriumctl plugins")

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(Plugins.List.self, .init()) else { return }
        var table = Table([
            .identifier("id"), .text("version"), .text("kind"), .state("state"),
            .text("isolation", .dispensable), .number("components", .dispensable),
            .text("title", least: 12, .essential),
        ])
        for plugin in reply.plugins {
            table.add([
                plugin.id, plugin.version, plugin.kind, plugin.state.rawValue,
                plugin.isolation.rawValue, Wording.count(plugin.components), plugin.title,
            ])
        }
        table.show()
        for plugin in reply.plugins {
            guard let reason = plugin.reason else { continue }
            let name = plugin.id.isEmpty ? plugin.path ?? "" : plugin.id
            Output.line(PrintableText.line("\(name) is \(plugin.state.rawValue): \(reason)"))
        }
        for plugin in reply.plugins {
            if let copy = plugin.onDisk {
                Output.line(PrintableText.line("\(plugin.id): \(copy.advice)"))
            }
        }
        for plugin in reply.plugins {
            if let isolated = plugin.isolated { Output.line(PrintableText.line(isolated)) }
            for trouble in plugin.troubles ?? [] { Output.line(PrintableText.line(trouble)) }
        }
    }
}

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "Describe a plugin, reload or release it, or start a new one.",
        subcommands: [
            PluginDescribeCommand.self, PluginReloadCommand.self, PluginReleaseCommand.self,
            PluginNewCommand.self,
        ],
        examples: "atriumctl plugin describe org.atrium.stars")
}

struct PluginDescribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Show a plugin with the settings it takes.",
        examples: "atriumctl plugin describe org.atrium.stars")

    @Argument(help: "The plugin's id, such as org.atrium.stars.", completion: .plugins)
    var id: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        guard let reply = try await session.answer(Plugins.Describe.self, .init(plugin: id))
        else { return }
        var facts = facts(reply.plugin)
        if let problem = reply.problem { facts.add("Settings", "not known: \(problem)") }
        facts.show()
        guard !reply.settings.isEmpty else { return }
        var table = Table([
            .identifier("setting", least: 24), .text("type"), .text("default"),
            .sentences("summary"),
        ])
        for setting in reply.settings {
            table.add([
                setting.name, setting.type,
                setting.default.map(Self.shown) ?? (setting.required ? "required" : ""),
                setting.summary,
            ])
        }
        Output.line()
        table.show()
    }

    /// A default, which is JSON, as it would be written in a definition.
    private static func shown(_ text: String) -> String {
        (try? JSON.decode(JSONValue.self, from: text))?.string ?? text
    }

    private func facts(_ plugin: Plugin) -> Facts {
        var facts = Facts()
        facts.add("Plugin", "\(plugin.id) \(plugin.version)")
        if let copy = plugin.onDisk { facts.add("On disk", copy.advice) }
        facts.add("Title", plugin.title)
        facts.add("About", plugin.description)
        facts.add("Kind", plugin.kind)
        facts.add(
            "State", plugin.state.rawValue + (plugin.reason.map { ": \($0)" } ?? ""))
        facts.add(
            "Lives",
            "in \(plugin.isolation == .daemon ? "the daemon" : "a process of its own"), "
                + Wording.count(plugin.components, "component"))
        facts.add(
            "Restarted", plugin.restarts.map { $0 == 1 ? "once" : "\(Wording.count($0)) times" })
        if let isolated = plugin.isolated { facts.add("Isolated", isolated) }
        for trouble in plugin.troubles ?? [] { facts.add("Trouble", trouble) }
        facts.add(plugin.path?.hasSuffix(".so") == true ? "Library" : "Program", plugin.path)
        return facts
    }
}

struct PluginReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Load the code of a plugin that is on the disk now.",
        discussion: """
            The plugin's components are made of the new code, one container after another. Calls wait meanwhile, and \
            screens stay open. If one can't be made, the old version goes on for all of them, and the message says why. \
            A plugin that lives in the daemon can't be reloaded: restart the daemon.

            Without this, workers run the code that was loaded, also after a crash; 'atriumctl plugins' shows where \
            something else is on the disk.
            """,
        examples: "atriumctl plugin reload org.example.thumbs")

    @Argument(help: "The plugin's id, such as org.example.thumbs.", completion: .plugins)
    var id: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        try await session.report(Plugins.Reload.self, .init(plugin: id)) { reply in
            let plugin = reply.plugin
            let before = reply.before.map { ", before \($0)" } ?? ""
            return "\(plugin.id): reloaded, version \(plugin.version)\(before), "
                + Wording.count(plugin.components, "component")
        }
    }
}

struct PluginReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Let a plugin that crashed the daemon run in it again.",
        discussion: """
            After a crash of the daemon, the plugin that it called runs in processes of its own, whatever \
            definitions say, and its delegates are left out. That ends with a new version of its file, or with \
            this command, from the daemon's next start on.
            """,
        examples: "atriumctl plugin release org.atrium.stars")

    @Argument(help: "The plugin's id, such as org.atrium.stars.", completion: .plugins)
    var id: String

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let session = try await connection.connect()
        try await session.report(Plugins.Release.self, .init(plugin: id)) { reply in
            reply.released
                ? "\(id): released; from the daemon's next start it runs where definitions say"
                : "\(id): not isolated, nothing to release"
        }
    }
}
