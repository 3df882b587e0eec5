import Foundation
import Glibc
import Host
import PluginLoader

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

    /// The shipped plugins, then those of the settings; from nobody's folders but root's, our user's, and
    /// the one's who could replace this program as well.
    static func plugins(_ settings: DaemonSettings) -> PluginLibrary {
        var owners: Set<UInt32> = [geteuid()]
        var program = stat()
        if stat("/proc/self/exe", &program) == 0 { owners.insert(program.st_uid) }
        return PluginLibrary(
            scanning: [PluginLibrary.Directory(shippedPlugins, isTrusted: true)]
                + settings.pluginPath.map { PluginLibrary.Directory($0) },
            owners: owners, delegates: Set(settings.delegates))
    }
}
