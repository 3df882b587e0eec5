import Foundation
import Host

/// Where the parts of an installation are, as seen from the running executable.
enum Installation {
    /// The folder of the executable, links followed.
    static let binaries = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The plugins that came with the daemon: trusted.
    static var shippedPlugins: String {
        binaries.deletingLastPathComponent().appending(path: "lib/atrium/plugins").path
    }

    /// The program that hosts an isolated component: installed in `lib/atrium`, built beside us.
    static var worker: String {
        let installed = binaries.deletingLastPathComponent()
            .appending(path: "lib/atrium/atrium-worker").path
        return FileManager.default.isExecutableFile(atPath: installed)
            ? installed : binaries.appending(path: "atrium-worker").path
    }

    /// The shipped plugins, then those of the settings.
    static func pluginDirectories(_ settings: DaemonSettings) -> [PluginLibrary.Directory] {
        [PluginLibrary.Directory(shippedPlugins, isTrusted: true)]
            + settings.pluginPath.map { PluginLibrary.Directory($0) }
    }
}
