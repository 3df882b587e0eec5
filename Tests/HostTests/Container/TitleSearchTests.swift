import Testing

@testable import Host

/// Texts that are looked for in the titles of filters.
struct TitleSearchTests {
    private func search(
        _ titles: [String], for text: String?
    ) -> (found: [String], steps: Int) {
        var search = TitleSearch(titles, titled: \.self, for: text)
        var steps = 1
        while search.step() { steps += 1 }
        return (search.matches, steps)
    }

    @Test func `titles that contain the text are found in their order`() {
        let titles = ["École", "g", "", "vieille ecole", "eco", "ECOLES"]
        #expect(search(titles, for: "ecole").found == ["École", "vieille ecole", "ECOLES"])
        #expect(search(titles, for: "ÉCOLES").found == ["ECOLES"])
        #expect(search(titles, for: "eco nomie").found == [])
        #expect(search(titles, for: nil).found == titles)
        #expect(search(titles, for: "").found == titles)
        #expect(search([], for: "a").found == [])
    }

    @Test func `a text is as long as it may be`() {
        let long = String(repeating: "t", count: 4_096)
        let titles = (0..<300).map { "t\($0)" } + [long, "a" + long, String(long.dropLast())]
        #expect(search(titles, for: long).found == [long, "a" + long])
        #expect(search(titles, for: "Ü" + long).found == [])
    }

    @Test(arguments: [1, 100, 5_000])
    func `a step has so many bytes of titles, however many those are`(length: Int) {
        let titles = (0..<2_000).map { _ in String(repeating: "x", count: length) }
        let bytes = titles.count * length
        let (found, steps) = search(titles, for: "y")
        #expect(found.isEmpty)
        #expect(steps > 3, "not all in one step")
        // The last title of a step may go beyond it.
        let size = TitleSearch<String>.bytesInStep
        #expect(steps >= bytes / (size + length))
        #expect(steps <= (bytes + titles.count * TitleSearch<String>.bytesOfTitle) / size + 1)
    }
}
