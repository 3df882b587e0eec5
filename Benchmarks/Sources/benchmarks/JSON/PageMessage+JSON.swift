import JSONCodec

// As VarlinkGenerator writes it: that is what the daemon runs.

extension PageMessage: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var parameters: Parameters?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "parameters":
                try seen.insert(0, named: key, in: json)
                parameters = try Parameters(json: &json)
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let parameters = parameters.take() else { throw json.missingMember("parameters") }
        self.parameters = parameters
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("parameters")
        self.parameters.write(to: &json)
        json.endObject()
    }
}

extension PageMessage.Parameters: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var items: [PageMessage.Item]?
        var total: Int?
        var sequence: Int?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "items":
                try seen.insert(0, named: key, in: json)
                items = try [PageMessage.Item](json: &json)
            case "total":
                try seen.insert(1, named: key, in: json)
                total = try json.readInt()
            case "sequence":
                try seen.insert(2, named: key, in: json)
                sequence = try json.readInt()
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let items = items.take() else { throw json.missingMember("items") }
        guard let total = total.take() else { throw json.missingMember("total") }
        guard let sequence = sequence.take() else { throw json.missingMember("sequence") }
        self.items = items
        self.total = total
        self.sequence = sequence
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("items")
        self.items.write(to: &json)
        json.key("total")
        json.int(self.total)
        json.key("sequence")
        json.int(self.sequence)
        json.endObject()
    }
}

extension PageMessage.Item: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var id: String?
        var fields: PageMessage.Fields?
        var votes: PageMessage.Tally?
        var comments: Int?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "id":
                try seen.insert(0, named: key, in: json)
                id = try json.readString()
            case "fields":
                try seen.insert(1, named: key, in: json)
                fields = try PageMessage.Fields(json: &json)
            case "votes":
                try seen.insert(2, named: key, in: json)
                if try !json.readNull() { votes = try PageMessage.Tally(json: &json) }
            case "comments":
                try seen.insert(3, named: key, in: json)
                if try !json.readNull() { comments = try json.readInt() }
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let id = id.take() else { throw json.missingMember("id") }
        guard let fields = fields.take() else { throw json.missingMember("fields") }
        self.id = id
        self.fields = fields
        self.votes = votes
        self.comments = comments
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("id")
        json.string(self.id)
        json.key("fields")
        self.fields.write(to: &json)
        if let value = self.votes {
            json.key("votes")
            value.write(to: &json)
        }
        if let value = self.comments {
            json.key("comments")
            json.int(value)
        }
        json.endObject()
    }
}

extension PageMessage.Fields: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var title: String?
        var summary: String?
        var genres: [String]?
        var year: Int?
        var rating: Double?
        var isNew: Bool?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "title":
                try seen.insert(0, named: key, in: json)
                title = try json.readString()
            case "summary":
                try seen.insert(1, named: key, in: json)
                summary = try json.readString()
            case "genres":
                try seen.insert(2, named: key, in: json)
                genres = try [String](json: &json)
            case "year":
                try seen.insert(3, named: key, in: json)
                year = try json.readInt()
            case "rating":
                try seen.insert(4, named: key, in: json)
                rating = try json.readDouble()
            case "isNew":
                try seen.insert(5, named: key, in: json)
                isNew = try json.readBool()
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let title = title.take() else { throw json.missingMember("title") }
        guard let summary = summary.take() else { throw json.missingMember("summary") }
        guard let genres = genres.take() else { throw json.missingMember("genres") }
        guard let year = year.take() else { throw json.missingMember("year") }
        guard let rating = rating.take() else { throw json.missingMember("rating") }
        guard let isNew = isNew.take() else { throw json.missingMember("isNew") }
        self.title = title
        self.summary = summary
        self.genres = genres
        self.year = year
        self.rating = rating
        self.isNew = isNew
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("title")
        json.string(self.title)
        json.key("summary")
        json.string(self.summary)
        json.key("genres")
        self.genres.write(to: &json)
        json.key("year")
        json.int(self.year)
        json.key("rating")
        json.double(self.rating)
        json.key("isNew")
        json.bool(self.isNew)
        json.endObject()
    }
}

extension PageMessage.Tally: JSONCodable {
    init(json: inout JSONReader) throws(JSONError) {
        var count: Int?
        var score: Double?
        var histogram: [String: Int]?
        var mine: Double?
        var seen = JSONMemberSet()
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "count":
                try seen.insert(0, named: key, in: json)
                count = try json.readInt()
            case "score":
                try seen.insert(1, named: key, in: json)
                if try !json.readNull() { score = try json.readDouble() }
            case "histogram":
                try seen.insert(2, named: key, in: json)
                histogram = try [String: Int](json: &json)
            case "mine":
                try seen.insert(3, named: key, in: json)
                if try !json.readNull() { mine = try json.readDouble() }
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let count = count.take() else { throw json.missingMember("count") }
        guard let histogram = histogram.take() else { throw json.missingMember("histogram") }
        self.count = count
        self.score = score
        self.histogram = histogram
        self.mine = mine
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("count")
        json.int(self.count)
        if let value = self.score {
            json.key("score")
            json.double(value)
        }
        json.key("histogram")
        self.histogram.write(to: &json)
        if let value = self.mine {
            json.key("mine")
            json.double(value)
        }
        json.endObject()
    }
}
