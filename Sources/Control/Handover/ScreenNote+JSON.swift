public import Host
import JSONCodec

// Notes of screens as lines; a crash may cut off the last line, which is then ignored.
extension ScreenNote {
    /// The note as a line, with its newline.
    public var line: [UInt8] {
        switch self {
        case .chosen(let screen): screen.object.bytes + [Self.newline]
        case .gone(let screen):
            JSON.encode(["gone": .string(screen.text)] as JSONValue) + [Self.newline]
        }
    }

    /// The notes in some lines, in order; incomplete or invalid lines are left out.
    public static func notes(in lines: some Collection<UInt8>) -> [ScreenNote] {
        lines.split(separator: newline).compactMap { line in
            guard let value = try? JSON.decode(JSONValue.self, from: Array(line)) else {
                return nil
            }
            if let gone = value["gone"]?.string { return .gone(ScreenID(gone)) }
            return KeptScreen(value).map { .chosen($0) }
        }
    }

    private static let newline = UInt8(ascii: "\n")
}
