// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that plugins link it too: one that lists what a file or a service has reads JSON.
let package = Package(
    name: "JSONCodec",
    products: [.library(name: "JSONCodec", targets: ["JSONCodec"])],
    targets: [
        .target(
            name: "JSONCodec",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ],
            // Optimised code calls `trunc` and `round`, which Foundation would bring along.
            linkerSettings: [.linkedLibrary("m")])
    ],
    swiftLanguageModes: [.v6]
)
