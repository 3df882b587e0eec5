/// Who may see whom: what a module may depend on and import, beside the standard library and the
/// system's.
///
/// Host never sees a socket; Control never sees SQL; a plugin sees AtriumKit alone.
enum HouseRules {
    static let plugins: Set = ["Catalog", "Facets", "Stars", "Threads"]

    /// By module: ours first, then those of other packages.
    static let visible: [String: Set<String>] = [
        "AtriumKit": [],
        "AtriumKitTesting": ["AtriumKit"],
        "JSONCodec": [],
        "VarlinkIDL": [],
        "VarlinkGenerator": ["VarlinkIDL"],
        "VarlinkGeneratorPlugin": ["VarlinkGenerator", "PackagePlugin"],
        "Varlink": ["JSONCodec", "VarlinkIDL", "NIOCore", "NIOPosix", "Logging"],
        "Interfaces": ["JSONCodec", "Varlink"],
        "Store": ["GRDB", "Logging"],
        "Host": [
            "AtriumKit", "JSONCodec", "Store", "NIOCore", "Logging", "BitCollections",
            "DequeModule", "OrderedCollections",
        ],
        "Workers": [
            "AtriumKit", "Host", "Interfaces", "JSONCodec", "Varlink", "NIOCore", "NIOPosix",
            "Logging",
        ],
        "Control": [
            "AtriumKit", "Host", "Interfaces", "JSONCodec", "Varlink", "Yams", "NIOCore", "Logging",
        ],
        "CSystemd": [],
        "Systemd": ["CSystemd", "Logging"],
        "atriumd": [
            "Control", "Host", "Store", "Systemd", "Varlink", "Workers", "Configuration",
            "ServiceLifecycle", "UnixSignals", "SystemPackage", "ArgumentParser", "NIOPosix",
            "NIOCore", "Logging",
        ],
        "atriumctl": [
            "Interfaces", "JSONCodec", "Varlink", "ArgumentParser", "NIOCore", "NIOPosix",
        ],
        "atrium-worker": ["AtriumKit", "AtriumKitTesting", "Workers", "Logging"],
    ].merging(plugins.map { ($0, ["AtriumKit"]) }) { first, _ in first }

    /// What comes with the toolchain and everyone may import.
    static let system: Set = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Swift", "Synchronization",
    ]

    /// On the hot path, or in every plugin: these do without Foundation.
    static let withoutFoundation: Set = [
        "AtriumKit", "Interfaces", "JSONCodec", "Varlink", "VarlinkIDL",
    ]

    /// What `module` may import.
    static func importable(from module: String) -> Set<String> {
        let system =
            withoutFoundation.contains(module)
            ? Self.system.subtracting(["Foundation", "FoundationEssentials"]) : Self.system
        return system.union(visible[module] ?? [])
    }
}
