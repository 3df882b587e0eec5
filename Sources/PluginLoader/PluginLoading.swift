public import AtriumKit
internal import Glibc
internal import Synchronization

/// Recognises libraries that are plugins before they are loaded, and loads them.
public enum PluginLoading {
    /// The prefix of the names of all epoch symbols.
    private static let epochPrefix = "atriumkit_abi_"

    /// The name of the function that returns a plugin's class.
    public static func entryFunction(of id: String) -> String {
        let name = id.unicodeScalars.map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                ? Character(scalar) : "_"
        }
        return "atrium_plugin_" + String(name)
    }

    /// Reads a library's own file, without loading it; throws for one that is not a plugin of this id, built against
    /// this kit and linked with it dynamically.
    public static func probe(_ library: String, id: String) throws(PluginProblem) {
        let file = try RegularFile(ofPlugin: library)
        let elf: ELFFile
        do throws(ELFFile.Unreadable) {
            elf = try ELFFile(file)
        } catch {
            throw .refused("\(library) is no library that can be loaded: \(error.reason).")
        }
        if let reason = refusal(elf, id: id) { throw .refused("\(library) \(reason)") }
    }

    /// Loads a library that was probed, and gives the class of its components.
    ///
    /// Loading one again gives the same class. It is never unloaded: the runtime keeps references
    /// to it.
    ///
    /// - Throws: `PluginProblem.failed` when the library can't be loaded, or its function returns no class of
    ///   this kind.
    public static func component(
        _ library: String, id: String, kind: Kind
    ) throws(PluginProblem) -> any Component.Type {
        let entry = try entry(of: library, id: id)
        guard case .component(let type) = entry.export, entry.kind == kind else {
            throw mismatch(entry, in: library, .component(kind))
        }
        return type
    }

    /// Does the same as ``component(_:id:kind:)``, for the class of a plugin's delegates.
    public static func delegate(
        _ library: String, id: String
    ) throws(PluginProblem) -> ContainerDelegate.Type {
        let entry = try entry(of: library, id: id)
        guard case .delegate(let type) = entry.export else {
            throw mismatch(entry, in: library, .delegate)
        }
        return type
    }

    /// Does the same as ``component(_:id:kind:)``, for the settings of a plugin's components or delegates.
    public static func settings(_ library: String, id: String) throws(PluginProblem) -> [Setting] {
        switch try entry(of: library, id: id).export {
        case .component(let type): return type.settings
        case .delegate(let type): return type.settings
        @unknown default: return []
        }
    }

    private static func mismatch(
        _ entry: PluginEntry, in library: String, _ wanted: PluginKind
    ) -> PluginProblem {
        let (found, type) =
            switch entry.export {
            case .component(let type): (entry.kind.map { PluginKind.component($0) }, "\(type)")
            case .delegate(let type): (PluginKind.delegate, "\(type)")
            @unknown default: (nil, "of a newer kit")
            }
        return .failed(
            "\(library): the class \(type) is of "
                + (found.map { "the kind '\($0.rawValue)'" } ?? "none of the kinds")
                + ", and the manifest says '\(wanted.rawValue)'.")
    }

    private static func entry(
        of library: String, id: String
    ) throws(PluginProblem) -> PluginEntry {
        if let problem = LoadedFiles.problem(with: library) { throw .failed(problem) }
        guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL) else {
            throw .failed("\(library) can't be loaded: \(lastError).\(sandboxHint(library))")
        }
        let name = entryFunction(of: id)
        guard let function = dlsym(handle, name) else {
            throw .failed("\(library) has no function \(name): \(lastError).")
        }
        typealias Function = @convention(c) () -> UnsafeMutableRawPointer?
        guard let pointer = unsafeBitCast(function, to: Function.self)() else {
            throw .failed("\(library): the function \(name) returned nothing.")
        }
        return Unmanaged<PluginEntry>.fromOpaque(pointer).takeRetainedValue()
    }

    /// Returns why a library is no plugin of this id, as the rest of a sentence; nil: it is one.
    private static func refusal(_ elf: ELFFile, id: String) -> String? {
        let entry = entryFunction(of: id)
        let copies = elf.defined.filter { $0.hasPrefix(epochPrefix) }
        guard copies.isEmpty else {
            return "carries its own copy of the kit: link the product AtriumKit, which is dynamic, "
                + "from its own package."
        }
        let others = elf.undefined.filter {
            $0.hasPrefix(epochPrefix) && $0 != atriumKitEpochSymbol
        }
        if let other = others.min() {
            return "was built against another epoch of the kit: \(other), and this daemon has "
                + "\(atriumKitEpochSymbol). Build it anew with this daemon's kit and compiler."
        }
        switch (elf.undefined.contains(atriumKitEpochSymbol), elf.defined.contains(entry)) {
        case (true, true): return nil
        case (true, false):
            let found = elf.defined.filter { $0.hasPrefix("atrium_plugin_") }.sorted()
            return "is built with the kit and does not define the function \(entry) that the id "
                + "'\(id)' calls for"
                + (found.isEmpty ? "." : "; it defines \(found.joined(separator: ", ")).")
        case (false, true):
            return "defines the function \(entry) and does not use the kit's library: make the "
                + "entry with exportPlugin(_:), and link the product AtriumKit dynamically."
        case (false, false):
            return "is no Atrium plugin: it does not use the kit. It needs "
                + (elf.needed.isEmpty ? "no library." : elf.needed.joined(separator: ", ") + ".")
        }
    }

    /// Returns the reason that the loader's message omits: no file in the folder may be executed; empty: that is not
    /// the reason.
    private static func sandboxHint(_ library: String) -> String {
        // ST_NOEXEC, which Swift's Glibc leaves out.
        let noExecution: UInt = 8
        var info = statvfs()
        guard statvfs(library, &info) == 0, info.f_flag & noExecution != 0 else { return "" }
        return
            " It is where nothing may be executed (noexec): a service's sandbox is opened for its "
            + "folder by ExecPaths= in a drop-in."
    }

    private static var lastError: String {
        dlerror().map { String(cString: $0) } ?? "for a reason that the linker does not name"
    }
}

/// The files that were loaded into this process.
///
/// A library is never unloaded. Loading another file from the same path would add a second copy of its types, which the
/// Swift runtime finds by the same names.
private enum LoadedFiles {
    private static let identities = Mutex<[String: String]>([:])

    /// Why a library must not be loaded; nil: it may, and is noted as loaded.
    static func problem(with library: String) -> String? {
        guard let identity = HeldCode.identity(of: .library(library)) else { return nil }
        return identities.withLock { known in
            guard let loaded = known.updateValue(identity, forKey: library), loaded != identity
            else { return nil }
            known[library] = loaded
            return
                "\(library) has changed since it was loaded into this process, which can't unload it: "
                + "restart the daemon."
        }
    }
}

extension Plugin {
    /// The class of its components, for which the library is loaded into this process where it isn't yet; throws for
    /// a program.
    public func loaded() throws(PluginProblem) -> any Component.Type {
        if let component { return component }
        guard case .library(let library) = code else {
            throw .refused(
                "\(path) is a program, and the components of \(id) live in a worker: leave "
                    + "'isolation: daemon' out of the definition.")
        }
        if let held, held.identity != HeldCode.identity(of: code) {
            throw .refused(
                "\(library) has changed since the plugin was loaded: 'atriumctl plugin reload \(id)' "
                    + "loads the new version.")
        }
        try PluginLoading.probe(library, id: id)
        return try PluginLoading.component(library, id: id, kind: kind)
    }
}
