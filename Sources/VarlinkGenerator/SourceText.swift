/// Swift source text, whose lines are indented by their nesting.
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

    /// Adds a line that ends in an opening brace, with the parameters of a closure such as `a, b in`, an indented
    /// body, and the closing brace.
    mutating func block(
        _ head: String, parameters: String = "", _ body: (inout SourceText) -> Void
    ) {
        line(head + " {" + (parameters.isEmpty ? "" : " " + parameters))
        indented(body)
        line("}")
    }

    /// Adds lines with one more level of indentation.
    mutating func indented(_ body: (inout SourceText) -> Void) {
        indent += "    "
        body(&self)
        indent.removeLast(4)
    }

    /// Adds a multi-line string literal whose value is exactly `content`.
    mutating func literal(_ head: String, _ content: String) {
        // Enough number signs that nothing in the content ends the literal or begins an escape.
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
