import AtriumKit
import AtriumKitTesting
import Foundation
import Host
import Index
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `The built-in plugins conform in a worker` {
    @Test(arguments: 1...3)
    func `the catalog`(seed: Int) async throws {
        try await conforms("catalog", .contents, seed: seed)
    }

    @Test(arguments: 1...3)
    func `the facets, with the settings of their manifest`(seed: Int) async throws {
        let manifest = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../plugins/Facets/manifest.json")
        let object = try Value(jsonBytes: Array(try Data(contentsOf: manifest))).object
        let settings = try #require(object?["conformance"]?.object?["settings"]?.object)
        try await conforms("facets", .filters, settings: settings, seed: seed)
    }

    @Test(arguments: 1...3)
    func `the stars`(seed: Int) async throws {
        try await conforms("stars", .votes, seed: seed)
    }

    @Test(arguments: 1...3)
    func `the threads`(seed: Int) async throws {
        try await conforms("threads", .comments, seed: seed)
    }

    private func conforms(
        _ name: String, _ kind: Kind, settings: [String: Value] = [:], seed: Int
    ) async throws {
        let plugin = Installed.plugin(name, kind)
        let report = try await Conformance.run(
            kind, settings: settings, seed: UInt64(seed)
        ) { Installed.component(of: plugin) }
        #expect(report.accepted > 50)
        #expect(!report.rules.isEmpty)
    }
}
