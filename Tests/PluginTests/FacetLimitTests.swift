import AtriumKit
import AtriumKitTesting
import Facets
import Testing

/// What the host would end a worker for is refused in the settings.
@Suite struct `The limits of facets` {
    @Test func `more sections, filters or ranges than a component may offer are refused`() throws {
        func sections(_ count: Int, _ filters: [Value]? = nil) -> [Value] {
            (0..<count).map { number in
                var section: [String: Value] = ["id": .text("s\(number)"), "field": "rating"]
                section["filters"] = filters.map { .list($0) }
                return .object(section)
            }
        }
        func filters(_ count: Int, _ name: String) -> [Value] {
            (0..<count).map { ["id": .text("f\($0)"), name: .number(Double($0))] }
        }
        func problem(_ sections: [Value]) -> String? {
            do {
                _ = try MemoryHost(Facets.self, settings: ["sections": .list(sections)])
                return nil
            } catch {
                return (error as? SettingError)?.reason ?? "\(error)"
            }
        }
        #expect(problem(sections(256)) == nil)
        #expect(problem(sections(257)) == "257 sections, where 256 are allowed")
        #expect(
            problem(sections(1, filters(16_385, "value")))
                == "16385 filters in 's0', where 16384 are allowed")
        #expect(problem(sections(10, filters(100, "from"))) == nil)
        #expect(
            problem(sections(11, filters(91, "from")))
                == "filters by 1001 ranges in all sections, where 1000 are allowed")
    }
}
