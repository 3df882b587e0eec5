import Foundation
import TestSupport
import Testing

/// The commands of `docs/operating.md`, run in their order on a machine of their own.
@Suite(Machine.boots)
struct GuideStory {
    @Test(.timeLimit(.minutes(4)))
    func `every command of the operator's guide does what the guide says`() async throws {
        let guide = try String(contentsOfFile: Machine.root + "docs/operating.md", encoding: .utf8)
        let steps = Transcript(of: guide, member: "atrium-member").steps
        #expect(steps.count > 60)
        var story = """
            step() {
                runuser -u "$2" -- bash -c "$(cat)" >/tmp/printed 2>&1 </dev/null
                tell status-$1 $?
                tell printed-$1 $(head -c 20000 /tmp/printed | base64 -w0)
            }
            cd /

            """
        for (number, step) in steps.enumerated() {
            story += "step \(number) \(step.user) <<'STEP'\n\(step.command)\nSTEP\n"
        }
        let told = try await Machine.play(story, within: 230)
        for (number, step) in steps.enumerated() {
            let printed = Self.text(told["printed-\(number)"])
            let status = told["status-\(number)"].flatMap { Int($0) }
            #expect(
                step.fails ? (status ?? 0) != 0 : status == 0,
                "\(step.command): \(status as Any)\n\(printed)")
            let missing = step.missing(in: printed)
            #expect(
                missing == nil,
                "\(step.command) prints no '\(missing ?? "")' there:\n\(printed)")
        }
    }

    private static func text(_ encoded: String?) -> String {
        let data = encoded.flatMap { Data(base64Encoded: $0) } ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
