internal import Glibc

/// Recognises programs that can be started, without starting them.
enum PluginProgram {
    /// Looks at a program's file.
    ///
    /// - Throws: `PluginProblem.refused` for a file that can't be read, is empty, or may not be executed.
    static func probe(_ program: String) throws(PluginProblem) {
        let file = try RegularFile(ofPlugin: program)
        guard file.size > 0 else { throw .refused("\(program) is empty: it is no program.") }
        guard access(program, X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw .refused(
                "\(program) can't be executed (\(reason)): 'chmod +x \(program)', and let it begin with "
                    + "what runs it, as '#!/usr/bin/env python3'.")
        }
    }
}
