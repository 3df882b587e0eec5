import Glibc

/// The words of a program's command line.
public enum CommandLineText {
    /// A word that is no text.
    public struct Problem: Error, Sendable {
        /// The word's place behind the program's name, from 1.
        public let place: Int
        /// The word, with `\xNN` in place of the bytes that are not UTF-8.
        public let word: String

        /// The problem as a sentence.
        public var sentence: String { "argument \(place) is not UTF-8: '\(word)'" }
    }

    /// Reads the words behind the program's name; throws the first that is not UTF-8.
    ///
    /// `CommandLine.arguments` has U+FFFD in place of bytes that are not UTF-8: another word than was written.
    public static func words() throws(Problem) -> [String] {
        var words: [String] = []
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[place] else { break }
            words.append(
                try word(UnsafeRawBufferPointer(start: bytes, count: strlen(bytes)), place))
        }
        return words
    }

    static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) throws(Problem) -> String {
        if let word = String(validating: bytes, as: UTF8.self) { return word }
        throw Problem(place: place, word: readable(bytes))
    }

    /// The text with its other bytes in hexadecimal.
    private static func readable(_ bytes: UnsafeRawBufferPointer) -> String {
        var text = ""
        var rest = bytes[...]
        while let byte = rest.first {
            let lengths = byte < 0x80 ? 1...1 : 2...4
            let found = lengths.lazy.compactMap { length in
                String(validating: rest.prefix(length), as: UTF8.self).map { ($0, length) }
            }.first
            if let (character, length) = found, byte >= 0x20, byte != 0x7F {
                text += character
                rest = rest.dropFirst(length)
            } else {
                text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                rest = rest.dropFirst()
            }
        }
        return text
    }
}
