// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that host and plugins link the one dynamic library: with the kit as
// a target of the host's package every binary would embed its own copy, and casts would fail.
let package = Package(
    name: "AtriumKit",
    products: [.library(name: "AtriumKit", type: .dynamic, targets: ["AtriumKit"])],
    targets: [
        .target(
            name: "AtriumKit",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
                // A plugin built against an older kit keeps working with a newer one.
                .unsafeFlags(["-enable-library-evolution"]),
            ],
            linkerSettings: [
                // The runtime keeps references into a loaded library: it must never be unloaded.
                .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"]),
                // Optimised code calls `trunc` and `round`, which Foundation would bring along.
                .linkedLibrary("m"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
