import Foundation
import JSONCodec

/// A call as it goes over the wire: some 130 bytes.
struct CallMessage: Codable, Equatable {
    /// What is called with.
    struct Parameters: Codable, Equatable {
        var container: String
        var item: String
        var value: Double
    }

    var method: String
    var parameters: Parameters

    static let example = CallMessage(
        method: "org.atrium.Votes.Cast",
        parameters: Parameters(
            container: "debian-packages", item: "the-lord-of-the-rings-2003-extended", value: 4.5))
}

/// A page of items: its size is as one wants it.
struct PageMessage: Codable, Equatable {
    /// One item, with fields of every type.
    struct Item: Codable, Equatable {
        var id: String
        var title: String
        var tags: [String]
        var size: Int
        var rating: Double
        var isShown: Bool
    }

    var items: [Item]
    var total: Int

    /// A page of so many items.
    static func example(_ count: Int) -> PageMessage {
        PageMessage(
            items: (0..<count).map { number in
                Item(
                    id: "package-\(number)",
                    title: "A \"quoted\" title, and one with an é, number \(number)",
                    tags: ["role::program", "interface::x11", "use::gameplaying"],
                    size: number * 1_024, rating: Double(number % 50) / 10,
                    isShown: number % 2 == 0)
            }, total: 63_440)
    }
}

// What follows is written as VarlinkGenerator writes it: that is what the daemon runs.

extension CallMessage: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var method: String?
        var parameters: Parameters?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "method":
                try seen.insert(0, named: key, in: json)
                method = try json.readString()
            case "parameters":
                try seen.insert(1, named: key, in: json)
                parameters = try Parameters(json: &json)
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let method else { throw json.missingMember("method") }
        guard let parameters else { throw json.missingMember("parameters") }
        self.method = method
        self.parameters = parameters
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("method" as StaticString)
        json.string(method)
        json.key("parameters" as StaticString)
        parameters.write(to: &json)
        json.endObject()
    }
}

extension CallMessage.Parameters: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var container: String?
        var item: String?
        var value: Double?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "container":
                try seen.insert(0, named: key, in: json)
                container = try json.readString()
            case "item":
                try seen.insert(1, named: key, in: json)
                item = try json.readString()
            case "value":
                try seen.insert(2, named: key, in: json)
                value = try json.readDouble()
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let container else { throw json.missingMember("container") }
        guard let item else { throw json.missingMember("item") }
        guard let value else { throw json.missingMember("value") }
        self.init(container: container, item: item, value: value)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("container" as StaticString)
        json.string(container)
        json.key("item" as StaticString)
        json.string(item)
        json.key("value" as StaticString)
        json.double(value)
        json.endObject()
    }
}
