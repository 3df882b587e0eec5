import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories.Roles {
    /// Whoever has written all that they may in a minute.
    @Suite struct Rates {
        @Test func `every method by which members write counts, and none by which they read`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration["atrium.yaml"] = "limits: {writesPerMinute: 1}\n"
            try await People.withFilms(options) { _, people in
                let vote: JSONValue = ["container": "films", "item": "heat-1995", "value": 4]
                let opened = try await people.call(
                    as: "member",
                    [
                        ["method": "org.atrium.Votes.Cast", "parameters": vote],
                        [
                            "method": "org.atrium.Screens.Open", "more": true,
                            "parameters": ["container": "films"],
                        ],
                    ])
                #expect(opened[0]["error"] == nil, "\(opened[0])")
                let screen = try #require(opened[1]["parameters"]?["screen"])
                let rows = table.sorted { $0.key < $1.key }.filter { $0.value.allows("member") }
                let calls = rows.map { method, row in
                    var call = row.call(method)
                    if method == "org.atrium.Screens.Activate" {
                        call["parameters"] = ["screen": screen, "item": "alien-1979"]
                    }
                    return call
                }
                let replies = try await people.call(as: "member", calls)
                for ((method, row), reply) in zip(rows, replies) {
                    let setting = reply["parameters"]?["setting"]?.string
                    #expect(
                        (setting == "limits.writesPerMinute") == (row.least == "member"),
                        "\(method): \(reply)")
                }
                for role in ["moderator", "admin"] {
                    let call = ["method": "org.atrium.Votes.Cast", "parameters": vote] as JSONValue
                    for reply in try await people.call(as: role, [call, call]) {
                        #expect(reply["error"] == nil, "\(role): \(reply)")
                    }
                }
            }
        }
    }
}
