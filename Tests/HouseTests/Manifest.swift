import Foundation
import TestSupport

/// What `swift package dump-package` tells about a package, as far as the rules ask.
struct Manifest: Decodable {
    struct Target: Decodable {
        let name: String
        let type: String
        let dependencies: [Dependency]
    }

    /// `{"byName": ["Host", null]}`, `{"product": ["NIOCore", "swift-nio", …]}`, `{"target":
    /// ["Stars", null]}`.
    struct Dependency: Decodable {
        let name: String

        init(from decoder: any Decoder) throws {
            let forms = try decoder.singleValueContainer().decode([String: [Name]].self)
            guard let name = forms.values.first?.first?.text else {
                throw CommandFailure(text: "a dependency of an unknown form: \(forms.keys)")
            }
            self.name = name
        }
    }

    /// A name, or one of the conditions and aliases that follow it.
    private struct Name: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    let targets: [Target]

    /// Reads the manifest of the package in `folder`, seen from the root.
    ///
    /// With a scratch directory of its own: a running `swift test` holds the lock on `.build`.
    init(ofPackageIn folder: String) async throws {
        let scratch = try TemporaryDirectory()
        let dump = try await run(
            [
                "swift", "package", "--package-path", "\(Checkout.root)/\(folder)",
                "--scratch-path", scratch.path, "dump-package",
            ],
            // The lock on the scratch directory stays there.
            environment: ["TMPDIR": scratch.path])
        guard dump.status == 0 else { throw CommandFailure(text: dump.errors) }
        self = try JSONDecoder().decode(Self.self, from: Data(dump.output.utf8))
    }
}
