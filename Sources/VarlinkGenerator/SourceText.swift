/// Lines of Swift, indented as deep as they are nested.
struct SourceText {
    private(set) var text = ""
    private var indent = ""

    /// Adds a line; an empty one is not indented.
    mutating func line(_ line: String) {
        text += (line.isEmpty ? "" : indent + line) + "\n"
    }

    /// Adds a documentation comment, without the control characters that the compiler warns of.
    mutating func documentation(_ documentation: String) {
        for line in documentation.split(separator: "\n", omittingEmptySubsequences: false) {
            let visible = String(String.UnicodeScalarView(line.unicodeScalars.filter(isPrintable)))
            self.line(visible.isEmpty ? "///" : "/// \(visible)")
        }
    }

    /// Adds a line that ends in a brace, what is in it, and the closing brace.
    ///
    /// - Parameters:
    ///   - head: What stands before the brace.
    ///   - parameters: Those of a closure, such as `a, b in`; none by default.
    ///   - body: Adds what is in it.
    mutating func block(
        _ head: String, parameters: String = "", _ body: (inout SourceText) -> Void
    ) {
        line(head + " {" + (parameters.isEmpty ? "" : " " + parameters))
        indented(body)
        line("}")
    }

    /// Adds lines one level deeper.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        indent += "    "
        body(&self)
        indent.removeLast(4)
    }

    /// Adds a string constant of several lines, as it is.
    mutating func literal(_ head: String, _ content: String) {
        // As many number signs as it takes that nothing in the content ends or escapes.
        var fence = "#"
        while content.contains("\"\"\"" + fence) || content.contains("\\" + fence) { fence += "#" }
        line("\(head) = \(fence)\"\"\"")
        indented { source in
            // By scalars: to Swift, a carriage return and a line feed are one character.
            for line in content.unicodeScalars.split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                source.line(source.escapeControls(in: line, fence: fence))
            }
            source.line("\"\"\"" + fence)
        }
    }

    /// Escapes what Swift would change or refuse, such as a carriage return at the end of a line.
    private func escapeControls(in line: Substring.UnicodeScalarView, fence: String) -> String {
        line.reduce(into: "") { text, character in
            if isPrintable(character) {
                text.unicodeScalars.append(character)
            } else {
                text += "\\\(fence)u{\(String(character.value, radix: 16))}"
            }
        }
    }

    private func isPrintable(_ character: Unicode.Scalar) -> Bool {
        character == "\t" || character.properties.generalCategory != .control
    }
}
