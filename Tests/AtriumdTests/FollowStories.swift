import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Parts of a container that follow its sections of filters.
    @Suite struct Followed {
        private static func facets(_ section: String) -> String {
            """
              - name: filters
                plugin: org.atrium.facets
                settings: { sections: [{ id: \(section), field: title }] }
            """
        }

        private static func sleepFile(_ section: String = "day") -> String {
            """
            atrium: 1
            container: sleep
            fields: { title: { type: keywords } }
            components:
            \(facets(section))
              - { name: list, plugin: org.atrium.catalog }

            """
        }

        private static func dayFile(_ follow: String) -> String {
            """
            atrium: 1
            container: day
            fields: { title: { type: keywords } }
            components:
            \(facets("day"))
              - { name: nights, container: sleep, follow: { \(follow) } }

            """
        }

        private static func problem(_ home: String, _ section: String) -> String {
            "The component 'nights' can't follow: '\(home)' has no section '\(section)'; it has day."
        }

        @Test func `a definition whose part follows a section that is not there is refused`()
            async throws
        {
            try await withDaemon { daemon in
                func apply(_ files: String...) async throws -> Finished {
                    try await daemon.type(
                        "atriumctl apply " + files.map { "-f \($0)" }.joined(separator: " "))
                }
                for (name, text) in [
                    ("sleep.yaml", Self.sleepFile()), ("right.yaml", Self.dayFile("day: day")),
                    ("own.yaml", Self.dayFile("night: day")),
                    ("around.yaml", Self.dayFile("day: dy")),
                ] {
                    try daemon.home.write(name, text)
                }
                // Whether its part is in the same call, applied before, or the section of another container.
                for (files, home, section) in [
                    (["own.yaml", "sleep.yaml"], "sleep", "night"),
                    (["sleep.yaml", "around.yaml"], "day", "dy"),
                    (["around.yaml"], "day", "dy"),
                ] {
                    for option in ["", " --dry-run"] {
                        let said = try await daemon.type(
                            "atriumctl apply " + files.map { "-f \($0)" }.joined(separator: " ")
                                + option)
                        #expect(said.status == 1, "\(files)\(option): \(said)")
                        #expect(said.errors.contains(Self.problem(home, section)), "\(said)")
                    }
                }
                #expect(try await apply("right.yaml").status == 0, "the part may come later")
                #expect(try await apply("sleep.yaml").status == 0)
                for (file, home, section) in [
                    ("own.yaml", "sleep", "night"), ("around.yaml", "day", "dy"),
                ] {
                    let said = try await apply(file)
                    #expect(said.status == 1 && said.errors.contains(Self.problem(home, section)))
                }
                let again = try await apply("right.yaml")
                #expect(again.status == 0 && again.output.contains("unchanged"), "\(again)")
                let described = try await daemon.type("atriumctl describe day --json")
                #expect(
                    try described.json["container"]?["components"]?[1]?["follow"]?["day"]?.string
                        == "day")
            }
        }

        @Test func `the status names a section that is not there, once it is known which are`()
            async throws
        {
            try await withDaemon { daemon in
                try daemon.home.write("day.yaml", Self.dayFile("day: day"))
                try daemon.home.write("sleep.yaml", Self.sleepFile("night"))
                let applied = try await daemon.type(
                    "atriumctl apply -f day.yaml && atriumctl apply -f sleep.yaml")
                #expect(applied.status == 0, "\(applied)")
                let asked = try await daemon.type(
                    "atriumctl filters sleep && atriumctl describe day --json")
                #expect(asked.status == 0, "\(asked)")
                let status = try await daemon.type("atriumctl status --json").json
                let problem = "can't follow: 'sleep' has no section 'day'; it has night."
                #expect(
                    status["problems"]?[0]?.string == "The component nights of day \(problem)",
                    "\(status)")
                let described = try await daemon.type("atriumctl describe day --json").json
                #expect(described["container"]?["state"]?.string == "degraded", "\(described)")
                try daemon.home.write("sleep.yaml", Self.sleepFile("day"))
                let right = try await daemon.type(
                    "atriumctl apply -f sleep.yaml && atriumctl filters sleep")
                #expect(right.status == 0, "\(right)")
                let well = try await daemon.type("atriumctl status --json").json
                #expect(well["state"]?.string == "ready", "\(well)")
            }
        }

        @Test func `a check finds it across files, whichever comes first`() async throws {
            for (first, second) in [("a", "b"), ("b", "a")] {
                var options = DaemonUnderTest.Options()
                options.configuration = [
                    "containers.d/\(first).yaml": Self.sleepFile(),
                    "containers.d/\(second).yaml": Self.dayFile("night: day"),
                ]
                try await withDaemon(options) { daemon in
                    let checked = try await daemon.type(
                        "CONFIGURATION_DIRECTORY=$PWD/etc atriumd --check")
                    #expect(checked.status == 1, "\(checked)")
                    #expect(
                        checked.output.contains(
                            "\(second).yaml:2:12: \(Self.problem("sleep", "night"))"),
                        "\(checked)")
                    #expect(checked.output.contains("\(first).yaml: fine"), "\(checked)")
                    try daemon.home.write(
                        "etc/containers.d/\(second).yaml", Self.dayFile("day: day"))
                    let right = try await daemon.type(
                        "CONFIGURATION_DIRECTORY=$PWD/etc atriumd --check")
                    #expect(right.status == 0, "\(right)")
                }
            }
        }
    }
}
