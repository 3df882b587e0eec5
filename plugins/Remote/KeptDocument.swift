import JSONCodec

/// A document as it is kept over restarts: a line of JSON that names its version, and then its own bytes.
///
/// What was sent to the service is not in it.
struct KeptDocument: Sendable {
    let validators: Validators
    let body: [UInt8]

    init(_ body: [UInt8], _ validators: Validators) {
        self.body = body
        self.validators = validators
    }

    /// Reads what ``bytes`` were; nil for any others.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let line = try? JSON.decode(JSONValue.self, from: Array(bytes[..<end])),
            line.object != nil
        else { return nil }
        body = Array(bytes[(end + 1)...])
        validators = Validators(etag: line["etag"]?.string, modified: line["modified"]?.string)
    }

    var bytes: [UInt8] {
        let members = [("etag", validators.etag), ("modified", validators.modified)]
        let line = JSONValue.object(
            members.compactMap { name, text in
                text.map { JSONValue.Member(name, .string($0)) }
            })
        return JSON.encode(line) + [UInt8(ascii: "\n")] + body
    }
}
