import JSONCodec

// As VarlinkGenerator writes it: that is what the daemon runs.

extension PageMessage: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var items: [Item]?
        var total: Int?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "items":
                try seen.insert(0, named: key, in: json)
                items = try [Item](json: &json)
            case "total":
                try seen.insert(1, named: key, in: json)
                total = try json.readInt()
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let items else { throw json.missingMember("items") }
        guard let total else { throw json.missingMember("total") }
        self.init(items: items, total: total)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("items" as StaticString)
        items.write(to: &json)
        json.key("total" as StaticString)
        json.int(total)
        json.endObject()
    }
}

extension PageMessage.Item: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var id: String?
        var title: String?
        var tags: [String]?
        var size: Int?
        var rating: Double?
        var isShown: Bool?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "id":
                try seen.insert(0, named: key, in: json)
                id = try json.readString()
            case "title":
                try seen.insert(1, named: key, in: json)
                title = try json.readString()
            case "tags":
                try seen.insert(2, named: key, in: json)
                tags = try [String](json: &json)
            case "size":
                try seen.insert(3, named: key, in: json)
                size = try json.readInt()
            case "rating":
                try seen.insert(4, named: key, in: json)
                rating = try json.readDouble()
            case "isShown":
                try seen.insert(5, named: key, in: json)
                isShown = try json.readBool()
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let id else { throw json.missingMember("id") }
        guard let title else { throw json.missingMember("title") }
        guard let tags else { throw json.missingMember("tags") }
        guard let size else { throw json.missingMember("size") }
        guard let rating else { throw json.missingMember("rating") }
        guard let isShown else { throw json.missingMember("isShown") }
        self.init(
            id: id, title: title, tags: tags, size: size, rating: rating, isShown: isShown)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("id" as StaticString)
        json.string(id)
        json.key("title" as StaticString)
        json.string(title)
        json.key("tags" as StaticString)
        tags.write(to: &json)
        json.key("size" as StaticString)
        json.int(size)
        json.key("rating" as StaticString)
        json.double(rating)
        json.key("isShown" as StaticString)
        json.bool(isShown)
        json.endObject()
    }
}
