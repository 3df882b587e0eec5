/// The rules for topics: words of `[a-z0-9-]+` with dots between, at most 255 bytes.
public enum Topic {
    /// The most bytes that a topic or a pattern may have.
    public static let maxLength = 255

    /// Why a text is not a topic, as a clause for a message; nil when it is one.
    public static func problem(in topic: String) -> String? {
        isPlain(topic) ? nil : problem(in: topic) { word, _ in problem(inWord: word) }
    }

    /// The container of a topic that clients publish on: `<container>.app.…`.
    ///
    /// Nil for any other topic.
    static func container(ofApp topic: String) -> String? {
        var topic = topic
        return topic.withUTF8 { bytes in
            guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")),
                bytes[dot...].starts(with: appWord)
            else { return nil }
            return String(decoding: bytes[..<dot], as: UTF8.self)
        }
    }

    /// The bytes of ".app.", in memory that lives as long as the program.
    private static var appWord: UnsafeBufferPointer<UInt8> {
        let text: StaticString = ".app."
        return UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Whether a text is a topic, without splitting it into words: this runs for each published notification.
    private static func isPlain(_ topic: String) -> Bool {
        var topic = topic
        return topic.withUTF8 { bytes in
            var last = UInt8(ascii: ".")
            for byte in bytes {
                let isEmptyWord = byte == UInt8(ascii: ".") && last == byte
                guard !isEmptyWord, byte == UInt8(ascii: ".") || isWordByte(byte) else {
                    return false
                }
                last = byte
            }
            return last != UInt8(ascii: ".") && bytes.count <= maxLength
        }
    }

    /// Checks that a text is a topic; throws `topicInvalid`.
    public static func check(_ topic: String) throws(HostError) {
        if let reason = problem(in: topic) {
            throw .topicInvalid(topic: topic, reason: reason)
        }
    }

    fileprivate static func problem(
        in text: String, _ check: (_ word: Substring, _ isLast: Bool) -> String?
    ) -> String? {
        guard text.utf8.count <= maxLength else {
            return "it has \(text.utf8.count) bytes, at most \(maxLength) are allowed"
        }
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        for (index, word) in words.enumerated() {
            if let problem = check(word, index == words.count - 1) { return problem }
        }
        return nil
    }

    fileprivate static func problem(inWord word: Substring) -> String? {
        if word.isEmpty { return "it has an empty word: write words with single dots between" }
        let isPlain = word.utf8.allSatisfy(isWordByte)
        return isPlain ? nil : "the word '\(word)' has other characters than a-z, 0-9 and '-'"
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// A pattern that topics match: `*` stands for any one word, and a final `>` for one or more further words.
public struct TopicPattern: Sendable, Hashable {
    /// The pattern as it was written.
    public let text: String

    private enum Form: Sendable, Hashable {
        case exact
        /// Everything longer that starts with these bytes.
        case prefix([UInt8])
        case words
    }

    private let bytes: [UInt8]
    private let form: Form

    /// Parses a pattern; throws `topicInvalid` with the reason.
    public init(_ text: String) throws(HostError) {
        let problem = Topic.problem(in: text) { word, isLast in
            switch word {
            case "*": nil
            case ">": isLast ? nil : "'>' stands for the rest, so nothing can follow it"
            default: Topic.problem(inWord: word)
            }
        }
        if let problem { throw .topicInvalid(topic: text, reason: problem) }
        self.text = text
        bytes = Array(text.utf8)
        if bytes.contains(UInt8(ascii: "*")) {
            form = .words
        } else if bytes.last == UInt8(ascii: ">") {
            form = .prefix(Array(bytes.dropLast()))
        } else {
            form = .exact
        }
    }

    /// Whether a topic matches; the result is undefined for a text that is not a topic.
    public func matches(_ topic: String) -> Bool {
        let matched = topic.utf8.withContiguousStorageIfAvailable { matches($0) }
        return matched ?? Array(topic.utf8).withUnsafeBufferPointer { matches($0) }
    }

    private func matches(_ topic: UnsafeBufferPointer<UInt8>) -> Bool {
        switch form {
        case .exact: topic.elementsEqual(bytes)
        case .prefix(let prefix): topic.count > prefix.count && topic.starts(with: prefix)
        case .words: matchesByWord(topic)
        }
    }

    private func matchesByWord(_ topic: UnsafeBufferPointer<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        var index = 0
        var place = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: ">"):
                return index < topic.count
            case UInt8(ascii: "*"):
                guard index < topic.count, topic[index] != dot else { return false }
                while index < topic.count, topic[index] != dot { index += 1 }
            default:
                guard index < topic.count, topic[index] == bytes[place] else { return false }
                index += 1
            }
            place += 1
        }
        return index == topic.count
    }
}
