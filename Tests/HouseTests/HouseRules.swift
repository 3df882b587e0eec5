/// Who may see whom: what a module may depend on and import, beside the standard library and the
/// system's.
///
/// Host never sees a socket; Control never sees SQL; a plugin sees AtriumKit alone.
enum HouseRules {
    static let plugins: Set = ["Catalog", "Facets", "File", "Music", "Remote", "Stars", "Threads"]

    /// What tests need built, in `Tests/Fixtures`: a plugin that breaks, a service, generated code, what breaks files
    /// beneath SQLite, or refuses what is written to them, and the index done the plain way.
    static let fixtures: Set = [
        "Breaker", "Certification", "Constructs", "FaultVFS", "IndexModel", "StoreFaults",
    ]

    /// Programs that show how the libraries are used, and where they are below `Examples`.
    static let examples = [
        "greeter-service": "Greeter/Service", "greeter-client": "Greeter/Client",
        "CompilationDelegate": "compilation/Delegate", "PeopleDelegate": "people/Delegate",
        "StaffDelegate": "directory/StaffDelegate", "UnitsDelegate": "directory/UnitsDelegate",
    ]

    /// By module: ours first, then those of other packages.
    static let visible: [String: Set<String>] = [
        "AtriumKit": [],
        "AtriumKitTesting": ["AtriumKit"],
        "JSONCodec": [],
        "AtriumFormats": ["JSONCodec"],
        "VarlinkIDL": [],
        "VarlinkGenerator": ["VarlinkIDL"],
        "VarlinkGeneratorPlugin": ["VarlinkGenerator", "PackagePlugin"],
        "LogMessages": ["Logging"],
        "Varlink": [
            "JSONCodec", "LogMessages", "NIOCore", "NIOPosix", "Logging", "CoreMetrics",
        ],
        "Interfaces": ["JSONCodec", "Varlink"],
        "PluginInterfaces": ["JSONCodec", "Varlink"],
        "greeter-service": ["JSONCodec", "Varlink", "VarlinkGeneratorPlugin"],
        "greeter-client": ["JSONCodec", "Varlink", "VarlinkGeneratorPlugin"],
        "Instruments": ["CoreMetrics"],
        "CNcurses": [],
        "CXXHash": [],
        "CZlib": [],
        "Store": ["CXXHash", "GRDB", "GRDBSQLite", "LogMessages", "Logging", "CoreMetrics"],
        "Index": ["AtriumKit", "CBits", "JSONCodec", "TimeZones"],
        "PluginLoader": ["AtriumKit", "JSONCodec"],
        "TimeZones": [],
        "CBits": [],
        "CTags": [],
        "CCurl": [],
        "CommentThreads": ["AtriumKit"],
        "Threads": ["AtriumKit", "CommentThreads"],
        "ItemReading": ["AtriumFormats", "AtriumKit", "JSONCodec"],
        "File": ["AtriumFormats", "AtriumKit", "ItemReading", "JSONCodec"],
        "Remote": ["AtriumFormats", "AtriumKit", "CCurl", "ItemReading", "JSONCodec"],
        "CompilationDelegate": ["AtriumKit"],
        "PeopleDelegate": ["AtriumKit"],
        "StaffDelegate": ["AtriumKit"],
        "UnitsDelegate": ["AtriumKit"],
        "Music": ["AtriumKit", "CTags", "ItemReading"],
        "CProcess": [],
        "Host": [
            "AtriumKit", "Index", "JSONCodec", "LogMessages", "PluginLoader", "Store", "NIOCore",
            // Reads the kernel's word on files that components watch, on the loop: no socket.
            "NIOPosix", "Logging", "DequeModule", "CoreMetrics",
        ],
        "Workers": [
            "AtriumKit", "CommentThreads", "CProcess", "Host", "Index", "Interfaces", "ItemReading",
            "JSONCodec", "LogMessages",
            "PluginInterfaces", "PluginLoader", "Varlink", "NIOCore", "NIOPosix", "Logging",
        ],
        "Control": [
            "AtriumKit", "Host", "Index", "Instruments", "Interfaces", "JSONCodec", "LogMessages",
            "PluginInterfaces", "PluginLoader", "TimeZones", "Varlink", "Yams", "Logging",
            "CoreMetrics",
        ],
        "CSystemd": [],
        "Systemd": ["CSystemd", "LogMessages", "Logging", "CoreMetrics"],
        "atriumd": [
            "AtriumFormats", "AtriumKit", "CProcess", "Control", "Host", "Instruments",
            "Interfaces", "LogMessages",
            "PluginLoader", "Store", "Systemd", "Varlink", "CoreMetrics", "Workers",
            "Configuration",
            "ServiceLifecycle", "UnixSignals", "SystemPackage", "ArgumentParser", "NIOPosix",
            "NIOCore", "Logging",
        ],
        "atriumctl": [
            "AtriumFormats", "CNcurses", "CProcess", "CZlib", "Interfaces", "JSONCodec", "Varlink",
            "ArgumentParser", "NIOCore", "NIOPosix",
        ],
        "atrium-worker": [
            "AtriumKit", "AtriumKitTesting", "Host", "Index", "PluginLoader", "Workers", "NIOCore",
            "NIOPosix",
            "Logging",
        ],
        "Certification": ["JSONCodec", "Varlink", "NIOPosix", "Logging"],
        "Constructs": ["JSONCodec", "Varlink"],
        "FaultVFS": [],
        "IndexModel": ["AtriumKit", "Index", "TimeZones"],
        "StoreFaults": ["FaultVFS", "GRDB", "Store"],
        "TestSupport": ["JSONCodec", "LogMessages", "Logging", "Subprocess", "SystemPackage"],
    ].merging(plugins.union(fixtures).map { ($0, ["AtriumKit"]) }) { first, _ in first }

    /// The folders of Host, and of which others each may name types.
    ///
    /// The loop and what belongs to it know no container; a component's slot knows its container as its owner alone,
    /// and a container its screens as what follows it.
    static let hostFolders: [String: Set<String>] = [
        "API": [],
        "Bus": ["API"],
        "Ports": ["API", "Bus"],
        "Loop": ["API", "Bus", "Ports"],
        "Components": ["API", "Bus", "Ports", "Loop"],
        "Containers": ["API", "Bus", "Ports", "Loop", "Components"],
        "Structure": ["API", "Bus", "Loop", "Components", "Containers"],
        "Records": ["API", "Bus", "Loop", "Components", "Containers"],
        "Screens": ["API", "Bus", "Loop", "Components", "Containers"],
        "Verify": ["API", "Loop", "Components", "Containers"],
        "Registry": [
            "API", "Bus", "Ports", "Loop", "Components", "Containers", "Structure", "Records",
            "Screens", "Verify",
        ],
    ]

    /// What comes with the toolchain and everyone may import.
    static let system: Set = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Swift", "Synchronization",
    ]

    /// On the hot path, or in every plugin: these do without Foundation.
    static let withoutFoundation: Set = [
        "AtriumFormats", "AtriumKit", "Interfaces", "JSONCodec", "PluginInterfaces", "TimeZones",
        "Varlink", "VarlinkIDL",
    ]

    /// Where a module's sources are.
    static func folder(of module: String) -> String {
        if plugins.contains(module) { return "plugins/\(module)" }
        if module == "TestSupport" { return "Tests/Support" }
        if let example = examples[module] { return "Examples/\(example)" }
        return fixtures.contains(module) ? "Tests/Fixtures/\(module)" : "Sources/\(module)"
    }

    /// What `module` may import.
    static func importable(from module: String) -> Set<String> {
        let system =
            withoutFoundation.contains(module)
            ? Self.system.subtracting(["Foundation", "FoundationEssentials"]) : Self.system
        return system.union(visible[module] ?? [])
    }
}
