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

/// A reply with items, as `org.atrium.Contents.List` gives it: its size is as one wants it.
///
/// Half of an item is prose, with quotes and line ends to escape and with letters beyond ASCII; the votes'
/// scores have all the digits that a mean has.
struct PageMessage: Codable, Equatable {
    /// What the reply holds.
    struct Parameters: Codable, Equatable {
        var items: [Item]
        var total: Int
        var sequence: Int
    }

    /// One item, with fields of every type.
    struct Item: Codable, Equatable {
        var id: String
        var fields: Fields
        var votes: Tally?
        var comments: Int?
    }

    /// What the container's definition declares.
    struct Fields: Codable, Equatable {
        var title: String
        var summary: String
        var genres: [String]
        var year: Int
        var rating: Double
        var isNew: Bool
    }

    /// What the votes add up to.
    struct Tally: Codable, Equatable {
        var count: Int
        var score: Double?
        var histogram: [String: Int]
        var mine: Double?
    }

    var parameters: Parameters

    /// A page of so many items.
    static func example(_ count: Int) -> PageMessage {
        PageMessage(
            parameters: Parameters(
                items: (0..<count).map(Item.example), total: 63_440, sequence: 1_048_576))
    }
}

extension PageMessage.Item {
    private static let titles = [
        "Amélie", "The Lord of the Rings: The Return of the King", "Das Boot", "千と千尋の神隠し",
        "Solaris", "8½", "Who's Afraid of Virginia Woolf?",
    ]

    static func example(_ number: Int) -> PageMessage.Item {
        let title = titles[number % titles.count]
        let votes = [number % 5, number % 7, number % 11, number % 13, number % 17]
        let sum = zip(votes, 1...).reduce(0) { $0 + $1.0 * $1.1 }
        let count = votes.reduce(0, +)
        let summary = """
            "\(title)", shown on the \(number % 28 + 1)th at 20:15 in the café on the corner.
            Doors open at half past seven; bring a friend, a cushion and an opinion,
            and come back on Sunday: what wins the vote is shown again.
            """
        return PageMessage.Item(
            id: "film-\(number)",
            fields: .init(
                title: title, summary: summary,
                genres: ["drama", "adventure", "coming-of-age story"],
                year: 1_960 + number % 60, rating: Double(number % 100) / 10,
                isNew: number % 2 == 0),
            votes: .init(
                count: count, score: count == 0 ? nil : Double(sum) / Double(count),
                histogram: Dictionary(
                    uniqueKeysWithValues: zip(votes, 1...).map { ("\($0.1)", $0.0) }),
                mine: number % 3 == 0 ? 4.5 : nil),
            comments: number % 40)
    }
}
