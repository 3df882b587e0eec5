import Foundation
import Host
import Interfaces
import Testing
import Varlink

@testable import Control

@Suite struct `Limits as settings` {
    private func limits(_ values: [String: Int]) -> LimitSettings {
        LimitSettings { values[$0.key] }
    }

    @Test func `are the documented defaults until they are set`() {
        var server = limits([:]).server
        // Of the methods each has a size of its own.
        server.methodBytes = [:]
        #expect(server == VarlinkLimits())
        #expect(limits([:]).host == HostLimits())
        #expect(limits([:]) == LimitSettings())
    }

    @Test func `each sets one limit, in the range that is known`() {
        for setting in LimitSettings.known {
            // One of the two is not the default.
            let ends = [setting.range.lowerBound, setting.range.upperBound].map {
                LimitSettings().differences(to: limits([setting.key: $0]))
            }
            let changed = ends.first { !$0.isEmpty } ?? []
            #expect(changed.contains("limits.\(setting.key)"))
            // Of connections and screens one user has half.
            #expect(changed.allSatisfy { $0.hasPrefix("limits.\(setting.key)") }, "\(changed)")
            #expect(LimitSettings.key(of: setting.key) == "limits.\(setting.key)")
        }
        #expect(LimitSettings.key(of: "pageItems") == nil)
    }

    @Test func `one user has half of the connections and screens, unless that is set`() {
        let few = limits(["connections": 20, "screens": 1])
        #expect(few.server.connectionsPerUser == 10)
        #expect(few.host.screensPerUser == 1)
        let set = limits(["connections": 20, "connectionsPerUser": 15, "handshake": 5])
        #expect(set.server.connectionsPerUser == 15)
        #expect(set.server.handshake == .seconds(5))
    }

    /// A call as long as the other limits allow has room, also written with escapes; no method takes more.
    @Test func `each method takes calls of its own size, by the limits of what they hold`() {
        let usual = limits([:])
        let sizes = usual.server.methodBytes
        let all = ControlRouter.interfaces.flatMap { $0.methodNames } + VarlinkService.methodNames
        #expect(all.filter { sizes[$0] == nil } == [])
        #expect(sizes.values.allSatisfy { $0 <= 4 << 20 }, "frameBytes may be as little")
        #expect(sizes[Votes.Cast.name] == 64 << 10)
        #expect(sizes[Contents.Put.name] == 4 << 20)
        let list = sizes[Contents.List.name] ?? 0
        #expect(list > 3 * (usual.host.selectionBytes + usual.host.searchBytes))
        #expect(sizes[Notifications.Publish.name] ?? 0 > 2 * usual.host.payloadBytes)

        let more = limits(["selectionBytes": 1 << 20, "payloadBytes": 1 << 10]).server.methodBytes
        #expect(more[Contents.List.name] ?? 0 > list)
        #expect(more[Notifications.Publish.name] == 66 << 10)
    }

    private func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the settings file that is installed names the defaults`() throws {
        let lines = try text("packaging/atrium.yaml").matches(of: #/(?m)^#  (\w+): (\w+)/#)
        #expect(lines.count > 20)
        for line in lines {
            let key = String(line.1)
            let setting = try #require(LimitSettings.known.first { $0.key == key }, "\(key)")
            let value = try #require(setting.value(String(line.2)), "\(line.0)")
            #expect(LimitSettings().differences(to: limits([key: value])) == [], "\(line.0)")
        }
    }

    @Test func `the guide and the manual say between what each may be`() throws {
        let guide = try text("docs/operating.md")
        let manual = try #require(
            try text("docs/man/atrium.yaml.5").firstMatch(of: #/(?s)\n\.Sh LIMITS.*?\n\.Sh/#)
        ).output
        for setting in LimitSettings.known {
            let row = try #require(
                guide.split(separator: "\n").first { $0.hasPrefix("| `\(setting.key)` |") })
            let bounds = row.split(separator: "|")[2].split(separator: ",")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(bounds.count == 2, "\(row)")
            let (least, most) = (bounds[0], bounds[1])
            #expect(setting.expectation.contains("from \(least) to \(most)"), "\(row)")
            let entry = try #require(manual.components(separatedBy: ".It Cm \(setting.key) :").last)
            let told = entry.components(separatedBy: ".It Cm")[0].replacing("\n", with: " ")
            #expect(told.contains("\(least) to \(most)"), "\(told)")
        }
    }

    @Test func `bytes are a number or a size, and nothing beyond the range is either`() {
        let bytes = NumberSetting("x", .bytes, 64...1 << 20)
        #expect(bytes.value("64") == 64)
        #expect(bytes.value("64K") == 65_536)
        #expect(bytes.value("1M") == 1 << 20)
        for wrong in ["63", "2M", "infinity", "1.5K", "-64", ""] {
            #expect(bytes.value(wrong) == nil, "\(wrong)")
        }
        #expect(NumberSetting("x", .things, 1...9).value("1K") == nil)
    }
}
