import Control
import Host

/// `atriumd --check`: what a start would find, without starting.
struct Check {
    let settings: DaemonSettings

    /// Prints a line for each thing; whether all is well.
    func passes() throws -> Bool {
        var passes = true
        func say(_ name: String, _ problem: String?) {
            print(problem.map { "\(name): \($0)" } ?? "\(name): fine")
            passes = passes && problem == nil
        }
        _ = try RoleTable(settings.roles, ownUser: 0, socketGroups: [])
        say("configuration", nil)
        for file in DefinitionFolder(settings).files() {
            switch file.outcome {
            case .success: say(file.path, nil)
            case .failure(let problem): say("definition", "\(problem)")
            }
        }
        let library = PluginLibrary(scanning: Installation.pluginDirectories(settings))
        for problem in library.problems { say("plugins", problem) }
        for plugin in library.plugins {
            switch plugin.state {
            case .refused, .failed:
                say("plugin \(plugin.id)", plugin.reason ?? plugin.state.rawValue)
            case .found, .loaded, .superseded: say("plugin \(plugin.id)", nil)
            }
        }
        return passes
    }
}
