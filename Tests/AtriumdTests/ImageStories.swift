import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories.Sources {
    private static let png: [UInt8] = [0x89] + Array("PNG\r\n\u{1A}\n".utf8)

    private static func image(_ item: String, _ field: String = "cover") -> JSONValue {
        ["container": "notes", "item": .string(item), "field": .string(field)]
    }

    @Test(arguments: ["daemon", "process"])
    func `a source gives the pictures of its items, and nothing that is none`(
        isolation: String
    ) async throws {
        try await withDaemon(options) { daemon in
            try await Self.apply(
                daemon, isolation: isolation, fields: ", cover: { type: image }")
            try Self.write(daemon, "small|Small\nbig|Big\nsvg|Drawing\nlong|Long\nnone|None\n")
            let big = Self.png + [UInt8](repeating: 7, count: (2 << 20) - 8)
            for (name, bytes) in [
                ("small", Self.png + [1]), ("big", big), ("svg", Array("<svg/>".utf8)),
                ("long", big + [7]),
            ] {
                let path = "\(daemon.home.path)/notes/\(name).cover"
                try Data(bytes).write(to: URL(fileURLWithPath: path))
            }
            let peer = try daemon.peer()
            try await until { try await Self.status(peer)["items"]?.int == 5 }

            for (name, bytes) in [("small", Self.png + [1]), ("big", big)] {
                let reply = try await peer.call("org.atrium.Contents.Image", Self.image(name))
                #expect(reply["parameters"]?["type"]?.string == "image/png", "\(reply)")
                let data = reply["parameters"]?["data"]?.string ?? ""
                #expect(Data(base64Encoded: data) == Data(bytes), "\(name): \(data.count)")
            }
            for (name, reason) in [
                ("svg", "PNG, JPEG, GIF, WebP or AVIF"), ("long", "2097153 bytes"),
                ("none", "none.cover: No such file"),
            ] {
                let reply = try await peer.call("org.atrium.Contents.Image", Self.image(name))
                #expect(reply["error"]?.string == "org.atrium.Contents.Refused", "\(reply)")
                let told = reply["parameters"]?["reason"]?.string
                #expect(told?.contains(reason) == true, "\(reply)")
            }
            let unknown = try await peer.call("org.atrium.Contents.Image", Self.image("x"))
            #expect(unknown["error"]?.string == "org.atrium.Contents.ItemNotFound")
            let text = try await peer.call(
                "org.atrium.Contents.Image", Self.image("small", "title"))
            #expect(text["error"]?.string == "org.atrium.Contents.FieldUnknown")
            #expect(text["parameters"]?["known"]?[0]?.string == "cover")

            // Many at once: they take turns.
            let screenful = try daemon.peer()
            for _ in 0..<50 {
                try await screenful.send(
                    Peer.frame("org.atrium.Contents.Image", Self.image("small")))
            }
            for _ in 0..<50 {
                #expect(try await screenful.receive()?["parameters"]?["data"] != nil)
            }
        }
    }
}
