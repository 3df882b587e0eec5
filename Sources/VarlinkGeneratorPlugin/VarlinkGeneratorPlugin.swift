import Foundation
import PackagePlugin

/// Generates Swift for all `.varlink` files of a target: one command, since types and errors are shared.
@main
struct VarlinkGeneratorPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let definitions = target.sourceFiles(withSuffix: "varlink").map(\.url)
            .sorted { $0.path < $1.path }
        guard !definitions.isEmpty else {
            Diagnostics.warning("\(target.name) has no .varlink files")
            return []
        }
        let output = context.pluginWorkDirectoryURL
        let names = definitions.map(Self.outputName) + ["SharedTypes.swift", "SharedErrors.swift"]
        return [
            .buildCommand(
                displayName: "Generating Swift for the interfaces of \(target.name)",
                executable: try context.tool(named: "VarlinkGenerator").url,
                arguments: ["--module", target.moduleName, "--output", output.path]
                    + definitions.map(\.path),
                inputFiles: definitions,
                outputFiles: names.map { output.appending(path: $0) })
        ]
    }

    /// The generator's rule for file names: `org.atrium.Votes.varlink` becomes `Votes.swift`.
    private static func outputName(of definition: URL) -> String {
        let name = definition.deletingPathExtension().lastPathComponent
        let last = name.split(separator: ".").last ?? ""
        let words = last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return words.joined() + ".swift"
    }
}
