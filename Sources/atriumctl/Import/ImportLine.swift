import Interfaces
import JSONCodec

/// One line of a file that is imported.
enum ImportLine: Equatable {
    /// An empty line, or the first line of an export.
    case nothing
    /// An item: `{"id", "fields", "parent"?}`.
    case item(Contents.Put.Parameters.Items)
    /// A record of an export with votes and comments.
    case record(Record)

    /// Reads a line.
    ///
    /// - Throws: ``ImportLineError`` that says what is wrong with it.
    init(_ bytes: [UInt8]) throws(ImportLineError) {
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else {
            self = .nothing
            return
        }
        do {
            self = try ImportLine.read(bytes)
        } catch let error as JSONError {
            throw ImportLineError(reason: "\(error)")
        } catch let error as ImportLineError {
            throw error
        } catch {
            throw ImportLineError(reason: "\(error)")
        }
    }

    private static func read(_ bytes: [UInt8]) throws -> ImportLine {
        // Nearly every line is an item: others are told apart only where reading one fails.
        do {
            let item = try JSON.decode(Contents.Put.Parameters.Items.self, from: bytes)
            guard item.ifRevision == nil else {
                throw ImportLineError(reason: "'ifRevision' has no place here")
            }
            return .item(item)
        } catch let error as JSONError {
            guard error.kind == .unknownMember || error.kind == .missingMember,
                case .object(let members) = try JSON.decode(JSONValue.self, from: bytes)
            else { throw error }
            let names = members.map(\.name)
            if names.contains("atrium") { return try header(.object(members)) }
            guard names.contains("component") else { throw error }
            return .record(try JSON.decode(Record.self, from: bytes))
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
}
