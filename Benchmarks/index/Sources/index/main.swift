import AtriumKit
import Foundation

@testable import Index

// Measures the index in process beside SQLite, a line of JSON for each figure:
// index PATH-OF-MOVIES.DB PATH-OF-DEBIAN.DB
guard CommandLine.arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: index MOVIES.DB DEBIAN.DB\n".utf8))
    exit(2)
}
try PackageCases(Database(path: CommandLine.arguments[2])).run()
let films = try Database(path: CommandLine.arguments[1])
for count in [10_000, 100_000] {
    let listing = try Listing(films, count: count)
    try Case.measure(
        [
            Case(
                name: "page, number and four counts of \(count)",
                ours: { _ in _ = try listing.index.query(listing.query()) })
        ], in: listing.index, rounds: 200)
}
let listing = try Listing(films, count: 1_000_000)
try Questions.check(listing, films)
try ListingCases(listing: listing, films: films).run()
try LiveCases(listing: listing).run()
Case.report("put a million items", "s", listing.putTime / 1_000)
Case.report("memory of an item", "bytes", Double(listing.bytes))
Case.report("of that its id and its fields as JSON", "bytes", Double(listing.ownBytes))
