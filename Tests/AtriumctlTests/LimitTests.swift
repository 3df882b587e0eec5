import ArgumentParser
import Testing

@testable import atriumctl

@Suite struct `A limit of what is listed` {
    @Test(arguments: [
        ["list", "films"], ["thread", "films"], ["ballots", "films"], ["pending", "films"],
        ["open", "films"],
    ])
    func `of 0, or below, is wrong usage in every command`(command: [String]) throws {
        #expect(throws: Never.self) { try Atriumctl.parseAsRoot(command + ["--limit", "5"]) }
        for limit in ["0", "-3"] {
            let error = #expect(throws: (any Error).self) {
                try Atriumctl.parseAsRoot(command + ["--limit", limit])
            }
            guard let error else { continue }
            #expect(Atriumctl.exitCode(for: error) == .validationFailure)
            #expect(Atriumctl.message(for: error).contains("--limit is "), "\(error)")
        }
    }

    @Test func `is asked for in pages that the daemon gives`() {
        #expect(LimitOption.next(of: nil) == nil)
        #expect(LimitOption.next(of: 5) == 5)
        #expect(LimitOption.next(of: 5000) == LimitOption.pageLength)
    }

    @Test func `of a screen is no more than a page`() throws {
        #expect(throws: (any Error).self) {
            try Atriumctl.parseAsRoot(["open", "films", "--limit", "1001"])
        }
        #expect(throws: (any Error).self) {
            try Atriumctl.parseAsRoot(["screen", "resize", "zgkcenfndxfv969s", "0"])
        }
    }
}
