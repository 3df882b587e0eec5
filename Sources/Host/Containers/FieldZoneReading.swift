import AtriumKit
import Index

/// The time zones of a container's fields, as they could be read when its lists were made.
struct FieldZoneReading {
    /// The fields in which times may be put without an offset.
    let localTimes: LocalTimes
    /// The fields whose time zone can't be read.
    let failures: [(what: String, reason: String)]

    init(of fields: [Field]) {
        localTimes = LocalTimes(fields: fields)
        failures = FieldZones.problems(of: fields).map {
            ("field \($0.field)", "has no time zone: \($0.reason)")
        }
    }
}
