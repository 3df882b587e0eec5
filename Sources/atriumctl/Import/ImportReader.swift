public import ArgumentParser
public import AtriumFormats

// swift-format-ignore: AvoidRetroactiveConformances
extension TextFormat: @retroactive ExpressibleByArgument {}

/// What an import reads, a piece for each item or record.
struct ImportReader {
    /// The file's name, for messages.
    let path: String
    private let source: TextSource
    private var pieces: any FormatReader

    /// Opens a file, or standard input for `-`, and finds out what it is unless somebody said so; throws for a file
    /// that is empty, or none of the formats.
    init(_ path: String, format: TextFormat? = nil) throws {
        source = try TextSource(path)
        let path = path == "-" ? "standard input" : path
        self.path = path
        let sample = try source.sample()
        // What made it has failed, as `[]` or a table's first row would be there without any item.
        guard sample.contains(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            throw CommandFailure(
                "\(path) is empty: nothing is imported",
                hint: "[], or a first row that names the columns, is a file without items.")
        }
        if format == nil, let other = TextFormat.foreign(sample) {
            throw CommandFailure("\(path) is \(other.name)", hint: other.hint)
        }
        do {
            pieces = try (format ?? .recognize(sample)).reader(source, sample: sample)
        } catch let problem as FormatProblem {
            throw Self.failure(problem, path)
        }
    }

    /// How many bytes the file has, where that is known.
    var size: Int? { source.size }
    /// How many bytes of it were read.
    var position: Int { source.position }
    /// The table that it is; nil where it is none.
    var table: CSVReader? { pieces as? CSVReader }

    /// The next piece, nil at the end; throws where nothing more can be read.
    mutating func next() throws -> FormatPiece? {
        do {
            return try pieces.next()
        } catch let problem as FormatProblem {
            throw Self.failure(problem, path)
        }
    }

    private static func failure(_ problem: FormatProblem, _ path: String) -> CommandFailure {
        let place = problem.place.map { "\($0): " } ?? ""
        return CommandFailure("\(path): \(place)\(problem.reason)", hint: problem.hint)
    }
}
