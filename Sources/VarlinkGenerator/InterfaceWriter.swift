import VarlinkIDL

/// Writes an interface: its namespace with methods and errors, and the protocol that a service implements.
struct InterfaceWriter {
    let definition: InterfaceDefinition
    let module: String
    let recursion: RecursiveTypes

    private var name: String { definition.swiftName }
    private var types: TypeWriter { TypeWriter(module: module, recursion: recursion) }

    func makeText() -> String {
        var source = SourceText()
        source.line("// Generated from \(definition.name).varlink.")
        source.line("")
        if !(definition.methods.isEmpty && definition.errors.isEmpty) {
            source.line("public import JSONCodec")
        }
        source.line("public import Varlink")
        source.line("")
        writeNamespace(to: &source)
        source.line("")
        writeService(to: &source)
        source.line("")
        writeRegistration(to: &source)
        return source.text
    }

    private func writeNamespace(to source: inout SourceText) {
        source.documentation(
            definition.documentation.isEmpty ? "`\(definition.name)`" : definition.documentation)
        source.block("public enum \(name): VarlinkInterface") { source in
            source.line("/// The interface's name.")
            source.line("public static let name = \"\(definition.name)\"")
            source.line("")
            source.line("/// Its definition.")
            source.literal("public static let description", definition.text)
            source.line("")
            source.line("/// Its methods, in the order of the definition.")
            let methods = definition.methods.map(\.name)
            source.line(
                "public static let methods: [any VarlinkMethod.Type] = ["
                    + methods.map { "\($0).self" }.joined(separator: ", ") + "]")
            source.line("")
            source.line("/// Their full names.")
            source.line(
                "public static let methodNames: [String] = ["
                    + methods.map { "\($0).name" }.joined(separator: ", ") + "]")
            source.line("")
            source.line("/// The full names of its errors.")
            source.line(
                "public static let errorNames: [String] = ["
                    + definition.errors.map { "\($0.name).name" }.joined(separator: ", ") + "]")
            for method in definition.methods { write(method, to: &source) }
            for error in definition.errors {
                source.line("")
                types.write(
                    error.parameters, name: error.name,
                    documentation: error.documentation.isEmpty
                        ? "The error `\(definition.name).\(error.name)`." : error.documentation,
                    protocols: "VarlinkErrorReply", fullName: "\(definition.name).\(error.name)",
                    to: &source)
            }
        }
    }

    private func write(_ method: MethodDefinition, to source: inout SourceText) {
        let fullName = "\(definition.name).\(method.name)"
        source.line("")
        source.documentation(documentation(of: method))
        source.block("public enum \(method.name): VarlinkMethod") { source in
            source.line("/// The method's full name.")
            source.line("public static let name = \"\(fullName)\"")
            source.line("")
            types.write(
                method.parameters, name: "Parameters", documentation: "What a call carries.",
                to: &source)
            source.line("")
            types.write(
                method.reply, name: "Reply", documentation: "What a reply carries.", to: &source)
        }
    }

    private func writeService(to source: inout SourceText) {
        source.documentation(
            "What implements `\(definition.name)`: a function for each method.\n\n"
                + "Each runs on the server's loop and answers by its call, at once or later.")
        source.block("public protocol \(name)Service: Sendable") { source in
            for (index, method) in definition.methods.enumerated() {
                if index > 0 { source.line("") }
                source.documentation(documentation(of: method))
                source.line("func \(SwiftNames.function(method.name))(")
                source.indented { source in
                    source.line("_ parameters: \(name).\(method.name).Parameters,")
                    source.line("call: VarlinkCall<\(name).\(method.name).Reply>")
                }
                source.line(")")
            }
        }
    }

    private func writeRegistration(to source: inout SourceText) {
        source.block("extension \(name)Service") { source in
            source.line("/// Makes a router answer `\(definition.name)` by this service.")
            source.block("public func register(in router: inout VarlinkRouter)") { source in
                source.line("router.add(\(name).self)")
                for method in definition.methods {
                    source.block(
                        "router.handle(\(name).\(method.name).self)",
                        parameters: "parameters, call in"
                    ) { source in
                        source.line(
                            "\(SwiftNames.function(method.name))(parameters, call: call)")
                    }
                }
            }
        }
    }

    private func documentation(of method: MethodDefinition) -> String {
        method.documentation.isEmpty
            ? "The method `\(definition.name).\(method.name)`." : method.documentation
    }
}
