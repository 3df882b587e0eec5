internal import CProcess

/// Tells of crashes of this process, as of those of a worker.
public enum CrashTeller {
    /// Has a crash of the calling thread print the signal and where it happened, and write a text to a file.
    ///
    /// An ABRT that another process sends, such as a service manager's watchdog, tells where the calling thread is.
    ///
    /// - Parameters:
    ///   - descriptor: the file's; it stays open.
    ///   - text: points to the text, if there is one at that time; lives as long as the process.
    public static func install(
        _ descriptor: Int32, _ text: UnsafePointer<UnsafePointer<CChar>?>
    ) {
        process_tell_crashes()
        process_note_crashes(descriptor, text)
    }
}
