import JSONCodec

// As VarlinkGenerator writes it: that is what the daemon runs.

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
        guard let method = method.take() else { throw json.missingMember("method") }
        guard let parameters = parameters.take() else { throw json.missingMember("parameters") }
        self.method = method
        self.parameters = parameters
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("method")
        json.string(self.method)
        json.key("parameters")
        self.parameters.write(to: &json)
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
        guard let container = container.take() else { throw json.missingMember("container") }
        guard let item = item.take() else { throw json.missingMember("item") }
        guard let value = value.take() else { throw json.missingMember("value") }
        self.container = container
        self.item = item
        self.value = value
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("container")
        json.string(self.container)
        json.key("item")
        json.string(self.item)
        json.key("value")
        json.double(self.value)
        json.endObject()
    }
}
