import AtriumFormats
import Interfaces
import JSONCodec

/// One line of a file that is imported, or one element of an array.
enum ImportLine: Equatable {
    /// An empty line, or the first line of an export.
    case nothing
    /// An item: `{"id", "fields", "parent"?}`.
    case item(Contents.Put.Parameters.Items)
    /// An item whose fields stand beside its id.
    case flat([JSONValue.Member])
    /// A record of an export with votes and comments.
    case record(Record)

    /// Reads a line; the error says where it begins, and what is wrong with it.
    init(_ bytes: [UInt8], line: Int = 1, column: Int = 1) throws(ImportLineError) {
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
            self = .nothing
            return
        }
        do {
            self = try ImportLine.read(bytes)
        } catch let error as JSONError {
            throw ImportLineError(
                FormatProblem(error, in: bytes, line: line, column: column), line: line)
        } catch let error as ImportLineError {
            throw error
        } catch {
            throw ImportLineError(reason: "\(error)")
        }
    }

    private static func read(_ bytes: [UInt8]) throws -> ImportLine {
        // Nearly every line is an item: others are recognised only where reading one fails.
        do {
            let item = try JSON.decode(Contents.Put.Parameters.Items.self, from: bytes)
            guard item.ifRevision == nil else {
                throw ImportLineError(reason: "'ifRevision' has no place here")
            }
            return .item(item)
        } catch let error as JSONError {
            guard [.unknownMember, .missingMember, .type].contains(error.kind),
                case .object(let members) = try JSONValue(keepingDigits: bytes)
            else { throw error }
            let names = Set(members.map(\.name))
            if names.contains("fields") { throw error }
            if names.contains("atrium"), !names.contains("id") {
                return try header(.object(members))
            }
            if names.isSuperset(of: ["component", "kind"]), !names.contains("id") {
                return .record(try JSON.decode(Record.self, from: bytes))
            }
            return .flat(members)
        }
    }

    private static func header(_ value: JSONValue) throws -> ImportLine {
        guard value["atrium"]?.int == ExportHeader.format else {
            throw ImportLineError(
                reason: "this is an export of another format; known is {\"atrium\": "
                    + "\(ExportHeader.format)}")
        }
        return .nothing
    }
}

/// What is wrong with a line.
struct ImportLineError: Error, Equatable {
    var reason: String

    init(reason: String) { self.reason = reason }

    /// Says what is wrong with what begins in a line: where stands there as far as it is not that line.
    init(_ problem: FormatProblem, line: Int) {
        guard let column = problem.column else {
            self.init(reason: problem.reason)
            return
        }
        let there = problem.line == line ? "" : "line \(problem.line ?? line), "
        self.init(reason: "\(there)column \(column): \(problem.reason)")
    }
}
