import Foundation
import JSONCodec

/// Holds the JSON reader and writer against Foundation, with whatever bytes libFuzzer comes up with.
@c(LLVMFuzzerTestOneInput)
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = UnsafeBufferPointer(start: start, count: count)
    let bytes = UnsafeRawBufferPointer(text)
    let theirs = Reference.read(text)
    switch Result(catching: { () throws(JSONError) in try JSON.decode(JSONValue.self, from: bytes) }
    ) {
    case .success(let value):
        checkSkipping(bytes, error: nil)
        checkAccepted(value, theirs, bytes)
        checkWritten(value)
    case .failure(let error):
        checkSkipping(bytes, error: error)
        checkRefused(error, theirs, bytes)
    }
    return 0
}

/// Skipping and reading are two ways through the grammar: they agree, down to the error.
private func checkSkipping(_ bytes: UnsafeRawBufferPointer, error: JSONError?) {
    var reader = JSONReader(bytes)
    do throws(JSONError) {
        try reader.skipValue()
        try reader.end()
        expect(error == nil, "skipped, but not read: \(error?.description ?? "")")
    } catch let skipped {
        expect(
            error?.description == skipped.description,
            "skipping says '\(skipped)', reading '\(error?.description ?? "nothing")'")
    }
}

private func checkAccepted(_ value: JSONValue, _ theirs: Any?, _ bytes: UnsafeRawBufferPointer) {
    guard let theirs else { return expect(false, "read, but refused by Foundation: \(value)") }
    expect(Reference.isEqual(value, theirs), "read as \(value), by Foundation as \(theirs)")
    let (numbers, digits) = (numbers(in: value), numbers(in: bytes))
    expect(numbers.count == digits.count, "\(digits.count) numbers are read as \(numbers.count)")
    for (number, digits) in zip(numbers, digits) {
        expect(Double(digits) == number, "\(digits) is read as \(number)")
    }
    if case .object = value {
        let object = try? JSONObject(Array(bytes))
        expect(
            object?.value == value,
            "as an object in bytes, it reads as \(String(describing: object))")
    }
    if case .array(let elements) = value {
        let strings = elements.compactMap(\.string)
        let read = try? JSON.decode([String].self, from: bytes)
        expect(
            read == (strings.count == elements.count ? strings : nil),
            "not the same strings: \(elements)")
        let numbers = elements.compactMap(\.double)
        let doubles = try? JSON.decode([Double].self, from: bytes)
        expect(
            doubles == (numbers.count == elements.count ? numbers : nil),
            "not the same numbers: \(elements)")
    }
}

/// All numbers of a tree, in order.
private func numbers(in value: JSONValue) -> [Double] {
    switch value {
    case .array(let elements): elements.flatMap(numbers)
    case .object(let members): members.flatMap { numbers(in: $0.value) }
    default: value.double.map { [$0] } ?? []
    }
}

/// All numbers of a text, in order, as they are written.
private func numbers(in bytes: UnsafeRawBufferPointer) -> [String] {
    var texts: [String] = []
    var (isInString, isEscaped, isInNumber) = (false, false, false)
    for byte in bytes {
        let isNumeric = !isInString && "+-.0123456789Ee".utf8.contains(byte)
        if isInString {
            isInString = isEscaped || byte != UInt8(ascii: "\"")
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        } else if byte == UInt8(ascii: "\"") {
            isInString = true
        } else if isInNumber && isNumeric {
            texts[texts.count - 1].unicodeScalars.append(Unicode.Scalar(byte))
        } else if isNumeric && byte != UInt8(ascii: "e") {
            // An `e` that does not follow a digit belongs to `true` or `false`.
            texts.append(String(Unicode.Scalar(byte)))
        }
        isInNumber = isNumeric && (isInNumber || byte != UInt8(ascii: "e"))
    }
    return texts
}

/// What is written reads back the same, by us and by Foundation.
private func checkWritten(_ value: JSONValue) {
    for text in [JSON.encode(value), Array(JSON.pretty(value).utf8)] {
        let written = String(decoding: text, as: UTF8.self)
        guard let theirs = Reference.read(text) else {
            return expect(false, "written, but refused by Foundation: \(written)")
        }
        expect(Reference.isEqual(value, theirs), "Foundation reads \(theirs) from \(written)")
        let again = try? JSON.decode(JSONValue.self, from: text)
        // An integral number may come back as an integer: then it is written the same.
        expect(
            again.map { JSON.encode($0) } == JSON.encode(value), "read back otherwise: \(written)")
    }
}

/// What is refused, although Foundation reads it, is one of what is known.
private func checkRefused(_ error: JSONError, _ theirs: Any?, _ bytes: UnsafeRawBufferPointer) {
    guard theirs != nil else { return }
    expect(Reference.isLenient(where: error, bytes), "refused, but read by Foundation: \(error)")
}
