import Glibc

/// Where the kit's packages are.
enum KitLocation {
    /// The folder that holds `AtriumKit` and `AtriumKitTesting`.
    ///
    /// $ATRIUM_KIT names the kit itself, or that folder; else it is looked for beside this program:
    /// installed in `share/atrium`, or in the checkout that it was built in.
    static func find(
        environment: (String) -> String? = Terminal.environment,
        executable: String? = programPath(),
        exists: @escaping (String) -> Bool = InputFile.exists
    ) throws -> String {
        let isKit = { (folder: String) in
            exists("\(folder)/AtriumKit/Package.swift")
                && exists("\(folder)/AtriumKitTesting/Package.swift")
        }
        if let named = environment("ATRIUM_KIT"), !named.isEmpty {
            let folder = absolute(named)
            if let found = [folder, parent(folder)].first(where: isKit) { return found }
            throw CommandFailure(
                "ATRIUM_KIT is \(named), and there is no kit",
                hint: "it names the folder AtriumKit, with AtriumKitTesting beside it.")
        }
        var folder = parent(executable ?? "/")
        let installed = "\(parent(folder))/share/atrium"
        if isKit(installed) { return installed }
        while folder != "/" {
            if isKit("\(folder)/Sources") { return "\(folder)/Sources" }
            folder = parent(folder)
        }
        throw CommandFailure(
            "the plugin kit is not found beside this program",
            hint: "name it with ATRIUM_KIT=…/AtriumKit; 'make install' puts it into "
                + "share/atrium.")
    }

    /// Makes the link `.kit` to the kit in a new plugin's folder: its package has no path of this machine.
    static func link(_ kit: String, from folder: String) throws {
        guard symlink(kit, "\(folder)/.kit") == 0 else {
            throw CommandFailure("\(folder)/.kit: \(String(cString: strerror(errno)))")
        }
    }

    /// The path of this program, links followed.
    static func programPath() -> String? {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

enum PluginGuide {
    /// Where it lies: installed in `share/doc/atrium`, or in the checkout that this program was built in; nil: nowhere.
    static func find(
        executable: String? = KitLocation.programPath(),
        exists: (String) -> Bool = InputFile.exists
    ) -> String? {
        var folder = KitLocation.parent(executable ?? "/")
        let installed = "\(KitLocation.parent(folder))/share/doc/atrium/plugins.md"
        if exists(installed) { return installed }
        while folder != "/" {
            if exists("\(folder)/docs/plugins.md") { return "\(folder)/docs/plugins.md" }
            folder = KitLocation.parent(folder)
        }
        return nil
    }
}
