import Foundation
internal import JSONCodec
internal import NIOCore

/// The longest frame, without its NUL.
private let limit = 200

/// Cuts a stream into frames as a connection does, and reads each as a call.
///
/// The input's first byte decides how the rest is split on its way.
@c(LLVMFuzzerTestOneInput)
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard let seed = input.first else { return 0 }
    let stream = Array(input.dropFirst())
    let expected = Cut(reference: stream)
    expect(Cut(stream, at: []) == expected, "in one piece it is cut otherwise")
    var random = FuzzRandom(seed: seed)
    let places = (0..<random.next(below: 9)).map { _ in random.next(below: stream.count + 1) }
    expect(
        Cut(stream, at: places.sorted()) == expected,
        "split at \(places.sorted()) it is cut otherwise")
    if stream.count <= 2 * limit {
        expect(
            Cut(stream, at: Array(0...stream.count)) == expected, "byte by byte it is cut otherwise"
        )
    }
    for frame in expected.frames { checkCall(frame) }
    return 0
}

/// What a stream holds: whole frames, then the beginning of another, or one too long.
private struct Cut: Equatable {
    var frames: [[UInt8]] = []
    var rest: [UInt8] = []
    var isTooLong = false

    /// Splits at each NUL: what the standard says, without regard to memory.
    init(reference stream: [UInt8]) {
        var pieces = stream.split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
        if let tooLong = pieces.firstIndex(where: { $0.count > limit }) {
            isTooLong = true
            pieces.removeSubrange(tooLong...)
        } else {
            rest = pieces.removeLast()
        }
        frames = pieces
    }

    /// Cuts what arrives piece by piece.
    init(_ stream: [UInt8], at places: [Int]) {
        var buffer = FrameBuffer(limit: limit)
        var start = 0
        do throws(ProtocolViolation) {
            for end in places + [stream.count] {
                buffer.append(ByteBuffer(bytes: stream[start..<end]))
                start = end
                while let frame = try buffer.next() {
                    frames.append(Array(frame.readableBytesView))
                }
            }
            expect(buffer.count == buffer.takeAll().readableBytes, "it does not know what waits")
        } catch {
            if case .frameTooLong(limit: limit) = error { isTooLong = true }
            expect(isTooLong, "an error of another kind: \(error)")
            return
        }
        rest = Array(stream.suffix(stream.count - frames.reduce(0) { $0 + $1.count + 1 }))
    }
}

/// A frame is read as a call just when Foundation reads a call, save what only we find.
private func checkCall(_ frame: [UInt8]) {
    let theirs = ReferenceCall(frame)
    frame.withUnsafeBytes { bytes in
        do throws(ProtocolViolation) {
            let header = try CallHeader(bytes, nesting: 64)
            guard let theirs else { return expect(false, "Foundation reads no call") }
            expect(theirs.complaint == nil, "Foundation reads \(theirs.complaint ?? "")")
            let method = header.escapedMethod ?? String(decoding: header.method, as: UTF8.self)
            expect(
                method.utf8.elementsEqual((theirs.method ?? "").utf8), "another method: \(method)")
            expect(
                [header.isOneway, header.wantsMore, header.wantsUpgrade] == theirs.flags,
                "other flags")
            checkParameters(header.parameters, theirs)
        } catch {
            checkRefusal(error, theirs, bytes)
        }
    }
}

private func checkParameters(_ bytes: UnsafeRawBufferPointer?, _ theirs: ReferenceCall) {
    guard let bytes else { return expect(theirs.parameters == nil, "the parameters are lost") }
    guard let value = try? JSON.decode(JSONValue.self, from: bytes, depthLimit: 65),
        let parameters = theirs.parameters
    else { return expect(false, "no parameters, or none that can be read") }
    expect(Reference.isEqual(value, parameters), "other parameters: \(value)")
}

private func checkRefusal(
    _ error: ProtocolViolation, _ theirs: ReferenceCall?, _ bytes: UnsafeRawBufferPointer
) {
    guard let theirs else { return }
    switch error {
    case .malformed(let error) where error.kind == .type:
        expect(
            theirs.complaint == "a wrong type" || isReadLeniently(bytes),
            "Foundation reads a call: \(error)")
    case .malformed(let error):
        expect(Reference.isLenient(where: error, bytes), "Foundation reads a call: \(error)")
    case .flagNotBoolean:
        expect(
            theirs.complaint == "a wrong type" || isReadLeniently(bytes), "all flags are fine")
    case .unknownMember(let name):
        expect(theirs.members.contains(name) && !name.contains("."), "nobody wrote \(name)")
    case .missingMethod: expect(theirs.method == nil, "there is a method")
    case .severalFlags: expect(theirs.flags.count { $0 } > 1, "there is one flag at most")
    case .frameTooLong, .unexpectedReply: expect(false, "no error of a frame: \(error)")
    }
}

/// Whether more is wrong with a frame, which Foundation overlooks: of a member that stands twice it reads one value,
/// which may have the right type where the other has a wrong one.
private func isReadLeniently(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do throws(JSONError) {
        _ = try JSON.decode(JSONValue.self, from: bytes, depthLimit: 65)
        return false
    } catch {
        return Reference.isLenient(where: error, bytes)
    }
}
