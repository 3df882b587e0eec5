import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Values come back as they were put, or are refused with the reason.
    @Suite struct Values {
        @Test(arguments: [0, 100])
        func `a whole number that 64 bits don't hold is refused, with its item`(
            _ others: Int
        ) async throws {
            try await withFilms { daemon in
                let peer = try daemon.peer()
                let rest = (0..<others)
                    .map { #"{"id":"o\#($0)","fields":{"title":"O"}},"# }.joined()
                for number in ["12345678901234567890", "-9223372036854775809"] {
                    let item = #"{"id":"big","fields":{"title":"Big","rating":\#(number)}}"#
                    let call =
                        #"{"method":"org.atrium.Contents.Put","#
                        + #""parameters":{"container":"films","items":[\#(rest)\#(item)]}}"#
                    _ = try await onThread { peer.trySending(Array(call.utf8) + [0]) }
                    let reply = try await peer.receive()
                    #expect(reply?["error"]?.string == "org.atrium.Contents.ItemInvalid")
                    #expect(reply?["parameters"]?["item"]?.string == "big")
                    let reason = reply?["parameters"]?["reason"]?.string
                    #expect(reason?.contains(number) == true, "\(reason as Any)")
                }
            }
        }
    }
}
