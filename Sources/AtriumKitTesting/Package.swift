// swift-tools-version: 6.3
import PackageDescription

// A package of its own, on the kit's *product*: inside the kit's package it would embed a second
// copy of the kit.
let package = Package(
    name: "AtriumKitTesting",
    products: [.library(name: "AtriumKitTesting", targets: ["AtriumKitTesting"])],
    dependencies: [.package(path: "../AtriumKit")],
    targets: [
        .target(
            name: "AtriumKitTesting",
            dependencies: [.product(name: "AtriumKit", package: "AtriumKit")],
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
