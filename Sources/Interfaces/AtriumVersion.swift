/// The version of the daemon, its client and its worker, which are released together.
public enum AtriumVersion {
    /// As semver.org writes it.
    public static let current = "0.1.0"
}
