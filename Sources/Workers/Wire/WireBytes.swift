internal import AtriumKit
internal import Foundation

/// Binary data, encoded in base64.
struct WireBytes: WireCodable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var wire: Value { Data(bytes).base64EncodedString().wire }

    init(wire: Value) throws(WireError) {
        guard let data = Data(base64Encoded: try String(wire: wire)) else {
            throw WireError(expected: "base64", found: "another text")
        }
        bytes = Array(data)
    }
}
