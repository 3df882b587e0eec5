public import AtriumKit
public import JSONCodec

/// A value is JSON as it stands: a number written without fraction and exponent is an `int`, where
/// 64 bits hold it; any other is a `number`. Members are written sorted by name, so that equal
/// values are equal bytes.
// Both packages are ours.
// swift-format-ignore: AvoidRetroactiveConformances
extension Value: @retroactive JSONReadable, @retroactive JSONWritable {
    /// Reads any value; throws if it is not JSON, or a name occurs twice in one object.
    public init(json: inout JSONReader) throws(JSONError) {
        switch try json.peek() {
        case .null:
            _ = try json.readNull()
            self = .null
        case .bool: self = .bool(try json.readBool())
        case .number: self = Value(number: try JSONValue(json: &json))
        case .string: self = .text(try json.readString())
        case .array:
            var elements: [Value] = []
            try json.beginArray()
            while try json.nextElement() { elements.append(try Value(json: &json)) }
            self = .list(elements)
        case .object: self = .object(try [String: Value](json: &json))
        }
    }

    /// Writes the value.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.null()
        case .bool(let bool): json.bool(bool)
        case .int(let int): json.int(Int(int))
        case .number(let number): json.double(number)
        case .text(let text): json.string(text)
        case .list(let list):
            json.beginArray()
            for element in list { element.write(to: &json) }
            json.endArray()
        case .object(let object): object.write(to: &json)
        }
    }

    /// The value that makes up the whole of a JSON text in UTF-8; throws if it is not JSON, or a name occurs twice in
    /// one object.
    public init(jsonBytes: [UInt8]) throws(JSONError) {
        self = try JSON.decode(from: jsonBytes)
    }

    /// The value as JSON text, UTF-8, without whitespace.
    public var jsonBytes: [UInt8] { JSON.encode(self) }

    private init(number: JSONValue) {
        switch number {
        case .int(let int): self = .int(int)
        case .double(let double): self = .number(double)
        default: self = .null
        }
    }
}

extension [String: Value] {
    /// The fields as the text of a JSON object, UTF-8, sorted by name, without whitespace.
    public var jsonBytes: [UInt8] { JSON.encode(self) }
}
