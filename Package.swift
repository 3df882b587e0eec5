// swift-tools-version: 6.3
import PackageDescription

/// What every target of ours is compiled with: the coming language mode, and no warning left behind.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Where a program or a plugin finds the kit and the Swift runtime once it is installed.
func runPath(_ path: String) -> LinkerSetting {
    .unsafeFlags(["-Xlinker", "-rpath", "-Xlinker", path])
}

/// A library that was loaded is never unloaded: its metadata stays referenced by the Swift runtime.
let neverUnload = LinkerSetting.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])

/// `bin/atriumd` beside `lib/atrium`.
let program: [LinkerSetting] = [runPath("$ORIGIN/../lib/atrium")]

let kit = Target.Dependency.product(name: "AtriumKit", package: "AtriumKit")
let kitTesting = Target.Dependency.product(name: "AtriumKitTesting", package: "AtriumKitTesting")
let json = Target.Dependency.product(name: "JSONCodec", package: "JSONCodec")
let formats = Target.Dependency.product(name: "AtriumFormats", package: "AtriumFormats")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let arguments = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")

/// What plugins need beside the kit.
let pluginLibraries: [String: [Target.Dependency]] = [
    "File": [formats, json, "ItemReading"], "Music": ["CTags", "ItemReading"],
    "Remote": ["CCurl", formats, json, "ItemReading"], "Threads": ["CommentThreads"],
]

/// Plugins whose folders have examples of what they do, for the conformance suite.
let pluginsWithExamples: Set = ["Catalog", "Facets", "File", "Stars", "Threads"]

/// A built-in plugin: a shared library of its own that sees the kit alone.
func plugin(_ name: String) -> Target {
    .target(
        name: name, dependencies: [kit] + (pluginLibraries[name] ?? []), path: "plugins/\(name)",
        exclude: ["manifest.json"] + (pluginsWithExamples.contains(name) ? ["examples.json"] : []),
        swiftSettings: strict,
        linkerSettings: [neverUnload, runPath("$ORIGIN/../..")])
}

/// An example's delegate: a plugin that is installed with the daemon, so that who tries the example needs no toolchain.
func exampleDelegate(_ name: String, in folder: String) -> Target {
    .target(
        name: name, dependencies: [kit], path: "Examples/\(folder)",
        exclude: ["manifest.json"], swiftSettings: strict,
        linkerSettings: [neverUnload, runPath("$ORIGIN/../..")])
}

/// The tests count SQLite's syncs: their own definitions of these functions go before the C library's.
let ownSyncs: [LinkerSetting] = [
    .unsafeFlags(["fdatasync", "fsync"].flatMap { ["-Xlinker", "--export-dynamic-symbol=\($0)"] })
]

func tests(
    _ name: String, _ dependencies: [Target.Dependency], linker: [LinkerSetting] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, swiftSettings: strict, linkerSettings: linker)
}

let plugins = ["Catalog", "Facets", "File", "Music", "Remote", "Stars", "Threads"]

/// The delegates of examples, and where each is below `Examples`.
let exampleDelegates = [
    "CompilationDelegate": "compilation/Delegate", "PeopleDelegate": "people/Delegate",
    "StaffDelegate": "directory/StaffDelegate", "UnitsDelegate": "directory/UnitsDelegate",
]

let package = Package(
    name: "atrium",
    products: [
        .library(name: "Varlink", targets: ["Varlink"]),
        .plugin(name: "VarlinkGeneratorPlugin", targets: ["VarlinkGeneratorPlugin"]),
        .executable(name: "atriumd", targets: ["atriumd"]),
        .executable(name: "atriumctl", targets: ["atriumctl"]),
        .executable(name: "atrium-worker", targets: ["atrium-worker"]),
        // What the workers' tests break things with; it is not installed.
        .library(name: "Breaker", type: .dynamic, targets: ["Breaker"]),
    ]
        + (plugins + exampleDelegates.keys.sorted()).map {
            .library(name: $0, type: .dynamic, targets: [$0])
        },
    dependencies: [
        .package(path: "Sources/AtriumKit"),
        .package(path: "Sources/AtriumKitTesting"),
        .package(path: "Sources/JSONCodec"),
        .package(path: "Sources/AtriumFormats"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(
            url: "https://github.com/apple/swift-configuration", from: "1.4.0",
            traits: ["YAML", "CommandLineArguments"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        .target(name: "VarlinkIDL", swiftSettings: strict),
        .executableTarget(
            name: "VarlinkGenerator", dependencies: ["VarlinkIDL"], swiftSettings: strict),
        .plugin(
            name: "VarlinkGeneratorPlugin", capability: .buildTool(),
            dependencies: ["VarlinkGenerator"], path: "Sources/VarlinkGeneratorPlugin"),
        .target(name: "LogMessages", dependencies: [logging], swiftSettings: strict),
        .target(
            name: "Varlink",
            dependencies: [json, "LogMessages", nioCore, nioPosix, logging, metrics],
            swiftSettings: strict),
        .target(
            name: "Interfaces", dependencies: ["Varlink", json], swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        // What plugins serve that are programs.
        .target(
            name: "PluginInterfaces", dependencies: ["Varlink", json], swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        // What the documentation of Varlink begins with; the tests run them.
        .executableTarget(
            name: "greeter-service", dependencies: ["Varlink", json],
            path: "Examples/Greeter/Service", swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        .executableTarget(
            name: "greeter-client", dependencies: ["Varlink", json],
            path: "Examples/Greeter/Client", swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        .target(
            name: "Store",
            dependencies: [
                "CXXHash", "LogMessages", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"), logging, metrics,
            ],
            swiftSettings: strict),
        .systemLibrary(
            name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
        .target(name: "TimeZones", swiftSettings: strict),
        .target(name: "CBits"),
        // TagLib (libtag1-dev) is C++; its own binding for C knows neither covers nor ratings.
        .target(name: "CTags", linkerSettings: [.linkedLibrary("tag")]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // What sources share that list what files and documents have; each has a copy of its own.
        .target(
            name: "ItemReading", dependencies: [kit, formats, json], swiftSettings: strict),
        // Comments with replies, for the plugin Threads and for programs of that kind; in each a copy of its own.
        .target(name: "CommentThreads", dependencies: [kit], swiftSettings: strict),
        .target(
            name: "Index", dependencies: [kit, "CBits", json, "TimeZones"],
            swiftSettings: strict),
        .target(name: "CProcess"),
        .target(
            name: "PluginLoader", dependencies: [kit, json], swiftSettings: strict),
        .target(
            name: "Host",
            dependencies: [
                kit, "Index", "PluginLoader", "Store", json, "LogMessages", nioCore,
                nioPosix,
                logging, metrics,
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: strict),
        .target(
            name: "Workers",
            dependencies: [
                "CommentThreads", "CProcess", "Host", "Index", "ItemReading", "PluginLoader",
                "Interfaces", "PluginInterfaces", "Varlink", json, "LogMessages", kit,
                nioCore, nioPosix, logging,
            ],
            swiftSettings: strict),
        .target(
            name: "Control",
            dependencies: [
                "Host", "Index", "PluginLoader", "Interfaces", "PluginInterfaces", "TimeZones",
                "Varlink", json, "Instruments",
                "LogMessages", kit, yams, logging, metrics,
            ],
            swiftSettings: strict),
        .target(name: "Instruments", dependencies: [metrics], swiftSettings: strict),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(
            name: "Systemd", dependencies: ["CSystemd", "LogMessages", logging, metrics],
            swiftSettings: strict),
        .executableTarget(
            name: "atriumd",
            dependencies: [
                "CProcess", "Control", "Workers", "Host", "PluginLoader", "Store", "Systemd",
                "Varlink", "Interfaces",
                "Instruments", "LogMessages", formats, kit, lifecycle, logging, metrics, nioCore,
                nioPosix, arguments,
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            swiftSettings: strict, linkerSettings: program),
        .executableTarget(
            name: "atriumctl",
            dependencies: [
                "CNcurses", "CProcess", "CZlib", "Interfaces", "Varlink", formats, json, arguments,
                nioCore, nioPosix,
            ],
            swiftSettings: strict, linkerSettings: program),
        .executableTarget(
            name: "atrium-worker",
            dependencies: [
                "Workers", "Host", "Index", "PluginLoader", kit, kitTesting, logging, nioCore,
                nioPosix,
            ],
            swiftSettings: strict, linkerSettings: program),
        tests("JSONCodecTests", [json]),
        tests("AtriumFormatsTests", [formats, json]),
        tests("LogMessagesTests", ["LogMessages", "TestSupport", logging]),
        .target(
            name: "Constructs", dependencies: ["Varlink", json],
            path: "Tests/Fixtures/Constructs", swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        .testTarget(
            name: "VarlinkIDLTests",
            dependencies: [
                "VarlinkIDL", "VarlinkGenerator", "Constructs", "Interfaces", "Varlink",
                json, "TestSupport",
            ],
            exclude: ["Golden", "Python"], swiftSettings: strict),
        tests("TimeZonesTests", ["TimeZones", "TestSupport"]),
        tests("InterfacesTests", ["Interfaces", "PluginInterfaces", "Varlink", json]),
        tests(
            "VarlinkTests",
            [
                "Varlink", json, "Instruments", "TestSupport", nioCore, nioPosix, logging,
            ]),
        tests("InstrumentsTests", ["Instruments", metrics]),
        .target(
            name: "FaultVFS", path: "Tests/Fixtures/FaultVFS",
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "StoreFaults",
            dependencies: ["FaultVFS", "Store", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/Fixtures/StoreFaults", swiftSettings: strict),
        tests(
            "StoreTests",
            [
                "Store", "StoreFaults", "FaultVFS", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                logging,
            ],
            linker: ownSyncs),
        .target(
            name: "IndexModel", dependencies: ["Index", "TimeZones", kit],
            path: "Tests/Fixtures/IndexModel", swiftSettings: strict),
        tests(
            "IndexTests", ["Index", "IndexModel", json, "TestSupport", "TimeZones", kit]),
        tests("PluginLoaderTests", ["PluginLoader", "TestSupport", kit, json]),
        tests(
            "HostTests",
            [
                "CommentThreads", "Host", "Index", "IndexModel", "PluginLoader", "Store",
                "StoreFaults", "FaultVFS",
                json,
                "LogMessages", "TestSupport", kit, nioCore, nioPosix, logging,
            ] + plugins.map { .target(name: $0) }),
        tests(
            "PluginTests",
            [kit, kitTesting, "CommentThreads", "TestSupport"]
                + (plugins + exampleDelegates.keys.sorted()).map { .target(name: $0) }
        ),
        tests(
            "WorkersTests",
            [
                "CProcess", "Workers", "Host", "Index", "Interfaces", "PluginInterfaces",
                "PluginLoader", "Store", "Varlink", json, "TestSupport",
                kit, kitTesting, nioCore, nioPosix, logging,
            ]),
        .target(
            name: "Breaker", dependencies: [kit], path: "Tests/Fixtures/Breaker",
            swiftSettings: strict, linkerSettings: [neverUnload]),
        .executableTarget(
            name: "Certification", dependencies: ["Varlink", json, nioPosix, logging],
            path: "Tests/Fixtures/Certification", swiftSettings: strict,
            plugins: ["VarlinkGeneratorPlugin"]),
        .testTarget(
            name: "CertificationTests",
            dependencies: ["Certification", "VarlinkIDL", "Varlink", json, "TestSupport"],
            exclude: ["Python"], swiftSettings: strict),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "Control", "Host", "Interfaces", json, "Varlink", "VarlinkIDL", kit,
            ],
            exclude: ["Definitions"], swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: [json, "LogMessages", logging, subprocess, systemPackage],
            path: "Tests/Support", swiftSettings: strict),
        tests("SystemdTests", ["Systemd", "LogMessages", "TestSupport", logging]),
        tests("HouseTests", ["Instruments", "LogMessages", "TestSupport", logging]),
        .testTarget(
            name: "AtriumctlTests",
            dependencies: [
                "atriumctl", "Interfaces", "Varlink", formats, json, "TestSupport", arguments,
                nioPosix, logging,
            ],
            exclude: ["Golden"], swiftSettings: strict),
        tests(
            "AtriumdTests",
            [
                "atriumd", "Control", "Host", "Interfaces", "LogMessages", "Systemd", json,
                "TestSupport", "Varlink", "VarlinkIDL", "Workers", kit, subprocess, systemPackage,
            ]),
    ] + plugins.map(plugin)
        + exampleDelegates.sorted { $0.key < $1.key }.map { exampleDelegate($0.key, in: $0.value) },
    swiftLanguageModes: [.v6], cxxLanguageStandard: .cxx17
)
