import Foundation
import TestSupport
import Testing

extension Stories {
    /// One container that is defined in two places.
    @Suite struct Repetitions {
        private static let full = """
            atrium: 1
            container: twice
            components:
              - { name: list, plugin: org.atrium.catalog }
              - { name: stars, plugin: org.atrium.stars }

            """
        private static let less = full.replacing(
            "  - { name: stars, plugin: org.atrium.stars }\n", with: "")

        @Test func `one call that defines a container twice is refused, and nothing changes`()
            async throws
        {
            try await withFilms { daemon in
                let folder = try await daemon.type("mkdir defs")
                #expect(folder.status == 0, "\(folder)")
                for (name, text) in [("a", Self.full), ("b", Self.less)] {
                    let written = try await daemon.type("printf '%s' '\(text)' >defs/\(name).yaml")
                    #expect(written.status == 0, "\(written)")
                }
                let sentence =
                    "defs/b.yaml:2:12: the container 'twice' is defined in defs/a.yaml:2 already"
                for line in [
                    "apply -f defs --dry-run", "apply -f defs",
                    "apply -f defs/a.yaml -f defs/b.yaml --prune --yes",
                ] {
                    let refused = try await daemon.type("atriumctl \(line)")
                    #expect(refused.status == 1 && refused.output == "", "\(refused)")
                    #expect(refused.errors.contains(sentence), "\(refused)")
                }
                let there = try await daemon.type("atriumctl describe twice")
                #expect(there.status == 1, "\(there)")
                let single = try await daemon.type("atriumctl apply -f defs/a.yaml")
                #expect(single.output.hasPrefix("twice created\n"), "\(single)")
            }
        }

        @Test func `two documents of one file name both places`() async throws {
            try await withFilms { daemon in
                let text = Self.full + "---\n" + Self.less
                let refused = try await daemon.type(
                    "printf '%s' '\(text)' >both.yaml && atriumctl apply -f both.yaml")
                #expect(refused.status == 1, "\(refused)")
                let sentence =
                    "both.yaml:7:1: container 'twice' is defined twice, before in the document at line 1"
                #expect(refused.errors.contains(sentence), "\(refused)")
            }
        }
    }
}
