// swift-tools-version: 6.3
import PackageDescription

// What programs and plugins read that list what files have: a package beside the kit, since a plugin depends on no
// target of the host's package.
let package = Package(
    name: "AtriumFormats",
    products: [.library(name: "AtriumFormats", targets: ["AtriumFormats"])],
    dependencies: [.package(path: "../JSONCodec")],
    targets: [
        .target(
            name: "AtriumFormats",
            dependencies: [.product(name: "JSONCodec", package: "JSONCodec")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
