/// The files of a new plugin that are the same for every kind.
enum PackageTemplate {
    static let package = ##"""
        // swift-tools-version: 6.3
        import Foundation
        import PackageDescription

        // Where Atrium's kit is: $ATRIUM_KIT, which names the folder AtriumKit or the one around it, the link .kit that 'atriumctl plugin new' made on
        // this machine, or where Atrium is installed.
        let places = [
            Context.environment["ATRIUM_KIT"], Context.environment["ATRIUM_KIT"].map { $0 + "/.." },
            Context.packageDirectory + "/.kit", "/usr/local/share/atrium", "/usr/share/atrium",
        ]
        let found = places.compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0 + "/AtriumKit/Package.swift")
        }
        guard let found else {
            fatalError("Atrium's kit is not found: install Atrium, or name the folder that holds AtriumKit in ATRIUM_KIT.")
        }

        let kit = Target.Dependency.product(name: "AtriumKit", package: "AtriumKit")
        let kitTesting = Target.Dependency.product(name: "AtriumKitTesting", package: "AtriumKitTesting")

        let package = Package(
            name: "{{Name}}",
            products: [.library(name: "{{Name}}", type: .dynamic, targets: ["{{Name}}"])],
            dependencies: [.package(path: found + "/AtriumKit"), .package(path: found + "/AtriumKitTesting")],
            targets: [
                .target(
                    name: "{{Name}}", dependencies: [kit],
                    linkerSettings: [
                        // A library that was loaded is never unloaded.
                        .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"]),
                        .linkedLibrary("m"),
                    ]),
                .testTarget(
                    name: "{{Name}}Tests", dependencies: [.target(name: "{{Name}}"), kit, kitTesting]),
            ],
            swiftLanguageModes: [.v6]
        )
        """##

    /// The library is where `swift build` leaves it, so that the daemon can be pointed here.
    static let manifest = ##"""
        {
          "id": "{{id}}",
          "version": "0.1.0",
          "kind": "{{kind}}",
          "library": ".build/debug/lib{{Name}}.so",
          "title": "{{Name}}",
          "description": "What it does, in a sentence."
        }
        """##

    static let tests = ##"""
        import AtriumKit
        import AtriumKitTesting
        import Testing
        import {{Name}}

        @Suite struct {{Name}}Tests {
            @Test(arguments: 1...5)
            func `it conforms to its kind`(seed: Int) async throws {
                {{suite}}
            }

        {{test}}
        }
        """##

    /// What runs the conformance suite of a component's kind.
    static let suite = "try await Conformance.run({{Name}}.self, seed: UInt64(seed))"

    static let makefile = """
        # Where the daemon looks for plugins.
        PLUGINS ?= /usr/local/lib/atrium/plugins
        HOME_OF_PLUGIN = $(DESTDIR)$(PLUGINS)/{{id}}

        .PHONY: build test install

        build:
        \tswift build

        test:
        \tswift test

        # By renaming: a library in use is never written to.
        install:
        \tswift build -c release
        \tinstall -d '$(HOME_OF_PLUGIN)'
        \tinstall -m 644 .build/release/lib{{Name}}.so '$(HOME_OF_PLUGIN)/.new'
        \tmv '$(HOME_OF_PLUGIN)/.new' '$(HOME_OF_PLUGIN)/lib{{Name}}.so'
        \tsed 's,"\\.build/debug/,",' manifest.json >'$(HOME_OF_PLUGIN)/manifest.json'
        """

    static let readme = ##"""
        # {{Name}}

        A plugin for Atrium of the kind `{{kind}}`: `{{id}}`.

            swift test                      # build it, run the conformance suite of its kind
            export ATRIUM_SOCKET=$PWD/.atrium/socket  # in each terminal: a daemon beside others
            atriumd --plugin-path . --state-directory .atrium/state  # it looks for plugins here, too
            atriumctl plugins               # in another terminal: it is listed
            atriumctl attach CONTAINER {{component}} --plugin {{id}}

        The last command needs a container: `atriumctl containers` shows those that there are, and
        `atriumctl apply -f FILE.yaml` makes one. The daemon finds it through `manifest.json`, which names the library that `swift build` makes.
        `make install` builds it for release and puts both into `/usr/local/lib/atrium/plugins/{{id}}`;
        the daemon loads it at its next start.

        What it must keep, whatever it does: a command says which records change and changes nothing;
        `apply` alone changes state; and the state follows from the set of records, in whatever order they
        come. The conformance suite checks that, and names the seed with which a failure happens again.
        """##
}
