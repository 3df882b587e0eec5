import AtriumKit
import AtriumKitTesting
import Catalog
import Facets
import Foundation
import Stars
import Testing
import Threads

@Suite struct `The built-in plugins conform to their kinds` {
    @Test(arguments: 1...10)
    func `the catalog`(seed: Int) async throws {
        let report = try await Conformance.run(Catalog.self, seed: UInt64(seed))
        #expect(report.accepted > 100)
    }

    @Test(arguments: 1...10)
    func `the stars`(seed: Int) async throws {
        let report = try await Conformance.run(Stars.self, seed: UInt64(seed))
        #expect(report.accepted > 80)
    }

    @Test(arguments: 1...10)
    func `the threads`(seed: Int) async throws {
        let report = try await Conformance.run(Threads.self, seed: UInt64(seed))
        #expect(report.accepted > 80)
    }
}
