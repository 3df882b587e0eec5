import AtriumKit
import Testing

@testable import Host

@Suite struct TurnBoundsTests {
    @Test func `what a component says beyond measure during a call is counted, call by call`() {
        var bounds = TurnBounds()
        #expect(bounds.end() == nil)
        for _ in 0..<TurnBounds.lines { #expect(bounds.admits(logging: "a") == true) }
        for _ in 0..<3 { #expect(bounds.admits(logging: "a") == false) }
        for _ in 0..<TurnBounds.notifications { #expect(bounds.admits(publishing: [:]) == true) }
        #expect(bounds.admits(publishing: [:]) == false)
        let told = bounds.end()
        #expect(told?.contains("3 lines of the log (at most 1000 and 4 MiB)") == true)
        #expect(told?.contains("1 notifications (at most 2000 and 16 MiB)") == true)
        #expect(bounds.admits(logging: "a") == true)
        #expect(bounds.end() == nil)
    }

    @Test func `few and big ones are bounded, too`() {
        var bounds = TurnBounds()
        let text = String(repeating: "a", count: 3 << 20)
        #expect(bounds.admits(logging: text) == true)
        #expect(bounds.admits(logging: text) == false)
        #expect(!TurnBounds().admitsBig())
    }
}

extension TurnBounds {
    /// Whether one that is bigger than all may be is taken.
    fileprivate func admitsBig() -> Bool {
        var bounds = self
        return bounds.admits(publishing: [
            "text": .text(String(repeating: "a", count: TurnBounds.notificationBytes))
        ])
    }
}
