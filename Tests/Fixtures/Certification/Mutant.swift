internal import JSONCodec

/// A way to be broken: what an altered service answers.
enum Mutant: String, CaseIterable {
    case wrongBool = "wrong-bool"
    case wrongInt = "wrong-int"
    case wrongFloat = "wrong-float"
    case roundedFloat = "rounded-float"
    case wrongString = "wrong-string"
    case wrongElement = "wrong-element"
    case numberAsString = "number-as-string"
    case undeclaredField = "undeclared-field"
    case missingField = "missing-field"
    case badEnum = "bad-enum"
    case oneReply = "one-reply"
    case threeReplies = "three-replies"
    case missingContinues = "missing-continues"
    case continuesOnLast = "continues-on-last"
    case replyOutOfOrder = "reply-out-of-order"
    case callsOutOfOrder = "calls-out-of-order"
    case replyToOneway = "reply-to-oneway"
    case notOK = "all-not-ok"
    case errorWithoutWants = "error-without-wants"
    case errorWithWrongGot = "error-with-wrong-got"
    case errorAsReply = "error-as-reply"

    /// What this mutant answers instead of the honest service.
    ///
    /// - Parameters:
    ///   - replies: The honest replies; none to a `oneway` call.
    ///   - method: The method that was called, without the interface's name.
    /// - Returns: The mutant's replies.
    func alter(_ replies: [JSONValue], to method: Substring) -> [JSONValue] {
        guard var reply = replies.first else {
            return self == .replyToOneway ? [["parameters": .object([])]] : replies
        }
        guard reply["error"] == nil else { return [alter(error: reply)] }
        if method == "Test10" { return alter(series: replies) }
        switch (self, method) {
        case (.wrongBool, "Test01"): reply["parameters"]?["bool"] = false
        case (.wrongInt, "Test02"): reply["parameters"]?["int"] = 2
        case (.wrongFloat, "Test03"): reply["parameters"]?["float"] = 1.5
        case (.wrongString, "Test04"): reply["parameters"]?["string"] = "pong"
        case (.roundedFloat, "Test05"): reply["parameters"]?["float"] = 3.14159265
        case (.numberAsString, "Test05"): reply["parameters"]?["int"] = "2"
        case (.undeclaredField, "Test05"): reply["parameters"]?["more"] = "than declared"
        case (.missingField, "Test06"): reply["parameters"]?["struct"]?["string"] = nil
        case (.wrongElement, "Test07"): reply["parameters"]?["map"]?["bar"] = "Baz"
        case (.badEnum, "Test09"): reply["parameters"]?["mytype"]?["enum"] = "four"
        case (.notOK, "End"): reply["parameters"]?["all_ok"] = false
        default: break
        }
        return [reply]
    }

    private func alter(error: JSONValue) -> JSONValue {
        var error = error
        switch self {
        case .errorWithoutWants: error["parameters"]?["wants"] = nil
        case .errorWithWrongGot: error["parameters"]?["got"]?["parameters"] = .object([])
        case .errorAsReply: error["error"] = nil
        default: break
        }
        return error
    }

    private func alter(series: [JSONValue]) -> [JSONValue] {
        var series = series
        switch self {
        case .oneReply: series.removeSubrange(1...)
        case .threeReplies: series.removeSubrange(3...)
        case .missingContinues: series[4]["continues"] = nil
        case .continuesOnLast: series[series.count - 1]["continues"] = true
        // Their order alone: each continues, as those in their places did.
        case .replyOutOfOrder: series.swapAt(2, 3)
        default: return series
        }
        if self == .oneReply || self == .threeReplies {
            series[series.count - 1]["continues"] = nil
        }
        return series
    }
}
