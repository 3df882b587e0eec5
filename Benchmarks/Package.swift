// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// A package of its own, so that nobody who builds Atrium compiles it. The daemon is measured from outside,
// over its socket: of Atrium's libraries only the JSON reader and writer are linked.
let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(path: "../Sources/JSONCodec"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CSQLite",
                .product(name: "JSONCodec", package: "JSONCodec"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
