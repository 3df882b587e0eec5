internal import CProcess

/// Reports crashes of this process, in the same way as those of a worker.
public enum CrashHandler {
    /// Makes a crash print the signal and a backtrace, and write a text to a file if the calling thread crashed.
    ///
    /// For an ABRT from another process, such as a service manager's watchdog, the backtrace is the calling thread's.
    ///
    /// - Parameters:
    ///   - descriptor: the file's descriptor; it must stay open.
    ///   - text: points to the text, or to nil when there is none; it must live as long as the process.
    public static func install(
        _ descriptor: Int32, _ text: UnsafePointer<UnsafePointer<CChar>?>
    ) {
        process_handle_crashes()
        process_note_crashes(descriptor, text)
    }

    /// Makes a crash print the notes, the signal and a backtrace.
    public static func install() { process_handle_crashes() }

    /// Appends a line that a crash prints, after the earlier ones.
    public static func append(_ line: String) {
        var line = line
        line.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                process_note_words($0.baseAddress, $0.count)
            }
        }
    }

    /// Drops all kept lines.
    public static func forget() { process_forget_words() }
}
