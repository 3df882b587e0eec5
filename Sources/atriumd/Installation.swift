import Foundation
import Glibc
import PluginLoader

/// Locates the parts of the installation, relative to the running executable.
enum Installation {
    /// The folder of the executable, with symbolic links resolved.
    static let binaries = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// The folder of the shipped plugins, which are trusted.
    static var shippedPlugins: String {
        binaries.deletingLastPathComponent().appending(path: "lib/atrium/plugins").path
    }

    /// The worker's executable: installed in `lib/atrium`, or built beside the daemon.
    static var worker: String {
        let installed = binaries.deletingLastPathComponent()
            .appending(path: "lib/atrium/atrium-worker").path
        return FileManager.default.isExecutableFile(atPath: installed)
            ? installed : binaries.appending(path: "atrium-worker").path
    }

    /// The shipped plugins, and those in the folders of the settings.
    ///
    /// Folders must belong to root, to the daemon's user, or to the owner of this executable, who could replace it as
    /// well.
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
