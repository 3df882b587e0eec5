// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
let kit = Target.Dependency.product(name: "AtriumKit", package: "AtriumKit")
let json = Target.Dependency.product(name: "JSONCodec", package: "JSONCodec")

// The index alone, called in process: its sources are those of the module, which is no product and so
// can't be linked. It is a package of its own, since no two packages of one build may have a target
// of the same name.
let package = Package(
    name: "index",
    dependencies: [
        .package(path: "../../Sources/AtriumKit"), .package(path: "../../Sources/JSONCodec"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CBits"),
        .target(name: "TimeZones", swiftSettings: strict),
        .target(
            name: "Index", dependencies: [kit, json, "CBits", "TimeZones"],
            swiftSettings: strict + [.unsafeFlags(["-enable-testing"])]),
        .executableTarget(
            name: "index", dependencies: [kit, json, "CSQLite", "Index"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
