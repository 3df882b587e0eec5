public import Logging

/// The events that an administrator may want to act on: each has a number of its own in the
/// journal (`MESSAGE_ID=`), and an entry in `systemd/atrium.catalog`, which `journalctl -x` shows.
///
/// The raw value is the number, made by `systemd-id128 new`. It never changes, and is not used again
/// for another event: people filter and alert by it.
public enum LogMessage: String, CaseIterable, Sendable {
    // The daemon's life.
    /// The daemon answers calls.
    case ready = "aa2aa12c044e45c39701e84db8201f8d"
    /// The daemon finishes accepted calls, then ends.
    case stopping = "1184300f4fa5473b885c5aaa4261d6cb"
    /// The daemon has ended cleanly.
    case stopped = "a193367e09f34c5abe23eb7aec8d7f2d"
    /// The daemon can't start, for a reason other than the configuration or the store.
    case startFailed = "15c9bb1b6dfd4f1ca99bb02c8585033b"
    /// A setting in the file, the environment or a flag is unknown or makes no sense.
    case settingsWrong = "842d3d5f3ce643e5a2658be56b8bb910"
    /// Connections were closed because their calls took too long after the stop began.
    case stopCutShort = "b1fdea4ac7304c159ccb1b96aab89748"
    /// A descriptor came from systemd that is not named `varlink`.
    case descriptorUnused = "9f8e90a7886b4cbb8ea242f5891108fb"
    /// Connections and screens were passed to the next process.
    case handedOver = "1dfe58d3af5c4fff9504b41409a35350"
    /// The daemon took over connections and screens of the previous process.
    case tookOver = "319312246bd04e0f864d60a907eafff6"
    /// Connections or screens could not be passed to the next process.
    case handoverIncomplete = "3923e0c838ec4b9ab871e7670f2f089c"
    /// An administrator changed the log level.
    case logLevelChanged = "9cffdd4a95c5478eadf1dd1f082a1155"
    /// One turn of the event loop took too long.
    case turnLong = "3b25b41184b04e8895bd92ac4bf61878"

    /// A reload found the settings wrong: the previous ones stay in force.
    case settingsNotApplied = "cdc441c6a58b45caaf377217c658735f"

    /// The settings give a role to an unknown user or group, which has no effect.
    case roleUnresolved = "24baf06809ed417da2b5f41dc5fe3f0a"

    /// The system's directory of users (NSS) has not answered in full: everyone keeps their previous roles or groups.
    case directorySilent = "af2f57b4237c446086a1a250bf345200"

    // Definitions.
    /// The definitions were read again.
    case reloaded = "6ec67d0c34eb49fd97003beb2baffec8"
    /// A file in `containers.d/` is wrong, or contradicts what there is.
    case definitionNotApplied = "bb393cbdabe349b393ca98c709a34408"
    /// A container's definition in the store is invalid.
    case definitionUnreadable = "cddffbe96c60413fa11247c1fe63ae01"

    // Plugins and components.
    /// A library was refused before it was loaded, such as one for another kit.
    case pluginRefused = "7e2c3609a4e14f3cab713f1288c639d3"
    /// A library could not be loaded.
    case pluginFailed = "2f754249968a43f2af99331dd6d4d05d"
    /// A folder or manifest is no plugin's.
    case pluginFolderWrong = "73fa9c7a1a2348919f5247769880d1f7"
    /// The settings name a plugin that does not exist, which has no effect.
    case pluginUnknown = "fb77505a274c48149936049adfe7ff77"
    /// The plugin folders contain no plugin.
    case noPlugin = "5cf63bda40cc48d49d1245cdbe000c2f"
    /// An administrator had new code of a plugin loaded.
    case pluginReloaded = "d16c837bdc334740ae311fd2712ffe52"
    /// New code of a plugin was not accepted: the loaded version stays in use.
    case pluginNotReloaded = "b1aea3f880724243aa9705dbd66396b2"
    /// The process of an isolated component ended or was ended; it is started again.
    case workerEnded = "7b9c45a18dfb4189a8a13c6b6160572c"
    /// A component can't be made, or ended too often.
    case componentFailed = "42c24bcdb71f480086d06c763bf6b7a4"
    /// A delegate can't be made: votes, comments and choices that need its approval are refused.
    case delegateFailed = "5d0a6a1f6c0e4b5b9a5f0f1c1f7a9e63"
    /// A component in a worker has not answered for a while during its start: calls wait no longer.
    case componentStalled = "aeea033b80d5487cb9642038db0132a7"
    /// A component that had stalled or failed was attached.
    case componentRevived = "28b0e3ce9aa14d4f8391086ea6d3322a"
    /// A call ended a component's worker, and is refused for a while; the component is started again.
    case callBlamed = "4acc4f2d129d446ba51f50e6592f99f9"
    /// A worker's call was slow.
    case callSlow = "9fd1f0b2b9f94b0a8e9a7c5b2f3d1c64"
    /// The previous process ended while it made a component, which hangs, or crashed while it called one.
    case componentBlamed = "02b57b346cdf42908546f966e7a7f253"

    // The store.
    /// The file is no database, or a damaged one.
    case storeDamaged = "b9c13604ccbc42038b263e8a63021a72"
    /// Committed changes can't be read any more; the rest is served.
    case storeLostChanges = "1ce8c6803dc14de5a58a3aa1890b6c47"
    /// Past notifications, or the comments that they are about, do not match their checksums.
    case pastDamaged = "d13563c541f14f33a28c156b3eaad6a3"
    /// Another process has the state directory.
    case storeInUse = "99a0882055fa43278379b9ac95cdb4b8"
    /// A storage error: changes are refused until a probe succeeds.
    case storeUnwritable = "8b776bc0c33748ee9add7527446d6cdc"
    /// SQLite reports the file as damaged: it is read-only until the process ends.
    case storeReadOnly = "296a33cabf124e1cbe485cbf121c3337"
    /// A file of the open store was removed or replaced: what is left is only read.
    case storeLost = "d27f5a4a081144c294a9e5a54930c6de"
    /// A probe succeeded.
    case storeWritable = "7bd981a705ab4bffabedba75ce4158ae"
    /// One change could not be written, although others can.
    case entryNotWritten = "eec4c997105c492f8776e3ac5f187b44"
    /// The changes of a failed entry can't be rolled back until the store can be read.
    case undoDelayed = "c658d55049104f79b388e50627741194"
    /// Notifications beyond the wanted number stay for now.
    case trimFailed = "94973e1110e940c492f79125d33cb37a"

    /// The data of a person was removed from the store's files.
    case personErased = "74b85061ae394d5cb5d89d61183a108a"
    /// Data of a person remains in the store's files for now.
    case erasureDelayed = "cf077c41487d4fc6845140946320a04f"
    /// Data of a person remains in the files of a damaged store, at least until its next start.
    case erasureBlocked = "ea53fb69865e454ca5ca4c8330fb2638"

    // Peers.
    /// A connection exceeded a limit or violated the protocol.
    case connectionClosed = "f498d6a62ba9442aa8c26595270e878c"
    /// No further connection is accepted, from any user or from this one.
    case connectionRefused = "b9230bec99ab49c0abfc531b08e10aa9"
    /// A call requires a higher role than its peer has.
    case callDenied = "c676c94dc8444abe821a3c2f5702ccaa"
    /// A subscriber can't be sent everything since its cursor.
    case notificationsMissed = "5fbf733baf90425dae287a3dead2fb18"
    /// Repeated messages about one user that were counted and not written.
    case repeated = "3b79a6b29b824a20a06020606f242204"
}

extension LogMessage {
    /// The key of the metadata under which ``Logging/Logger/log(_:level:_:file:function:line:)`` puts
    /// the number; the journal has it as `MESSAGE_ID=`, and other destinations leave it out.
    public static let key = "message-id"

    /// The severity: a notice may interest an administrator, a warning should be looked at,
    /// an error wants something done.
    public var level: Logger.Level {
        switch self {
        case .ready, .stopping, .stopped, .handedOver, .tookOver, .logLevelChanged, .reloaded,
            .componentRevived, .pluginReloaded, .personErased, .storeWritable, .callDenied,
            .notificationsMissed,
            .repeated:
            .notice
        case .stopCutShort, .descriptorUnused, .handoverIncomplete, .turnLong, .roleUnresolved,
            .directorySilent, .pluginRefused, .pluginFailed, .pluginFolderWrong,
            .pluginUnknown, .noPlugin, .pluginNotReloaded, .workerEnded, .callBlamed, .callSlow,
            .componentStalled, .erasureDelayed, .trimFailed, .connectionClosed, .connectionRefused:
            .warning
        case .startFailed, .settingsWrong, .settingsNotApplied, .definitionNotApplied,
            .definitionUnreadable,
            .componentFailed, .delegateFailed, .componentBlamed, .storeDamaged, .storeLostChanges,
            .storeInUse, .pastDamaged,
            .erasureBlocked,
            .storeUnwritable, .storeReadOnly, .storeLost,
            .entryNotWritten,
            .undoDelayed:
            .error
        }
    }

    /// The event in fixed words; the variable parts are in the metadata.
    public var text: String {
        switch self {
        case .ready: "the daemon is ready"
        case .stopping: "the daemon stops: it finishes what it has accepted"
        case .stopped: "the daemon has stopped"
        case .startFailed: "the daemon can't start"
        case .settingsWrong: "the configuration is wrong: the daemon can't start"
        case .settingsNotApplied: "the configuration is wrong: the daemon keeps the old one"
        case .stopCutShort: "connections that did not end in time were closed"
        case .descriptorUnused: "systemd passed a descriptor that is not used"
        case .handedOver: "connections and screens were left with systemd for the next process"
        case .tookOver: "the daemon took over connections and screens of the previous process"
        case .handoverIncomplete: "some connections or screens can't be handed over"
        case .logLevelChanged: "the log level was changed"
        case .turnLong: "one turn of the event loop took too long: no call was answered meanwhile"
        case .roleUnresolved: "the settings give a role to an unknown user or group"
        case .directorySilent: "the directory of users does not answer"
        case .reloaded: "configuration and definitions were read again"
        case .definitionNotApplied: "a definition was not applied"
        case .definitionUnreadable: "a container's definition can't be read: it is left out"
        case .pluginRefused: "a plugin was refused"
        case .pluginFailed: "a plugin could not be loaded"
        case .pluginFolderWrong: "a plugin folder contains something that is no plugin"
        case .pluginUnknown: "the settings name a plugin that does not exist"
        case .noPlugin: "no plugin was found"
        case .pluginReloaded: "a plugin was reloaded"
        case .pluginNotReloaded: "a plugin was not reloaded: its loaded version stays in use"
        case .workerEnded: "a component's worker ended: it is restarted"
        case .componentFailed: "a component can't be started"
        case .delegateFailed: "a delegate can't be made: calls that need its approval are refused"
        case .componentStalled: "a component does not start: calls no longer wait for it"
        case .componentRevived: "a stalled or failed component was attached"
        case .callBlamed: "a call ended a component's worker: it is refused for a while"
        case .callSlow: "a worker's call was slow"
        case .componentBlamed: "the previous daemon process ended while it called a component"
        case .storeDamaged: "the store is damaged: the daemon can't start"
        case .storeLostChanges: "the store was damaged: changes are lost"
        case .pastDamaged: "past notifications in the store are damaged: subscribers get a gap"
        case .storeInUse: "the store is in use: the daemon can't start"
        case .storeUnwritable: "the store can't be written: changes are refused until it can"
        case .storeReadOnly: "the store is damaged: it is read-only"
        case .storeLost: "a file of the store was removed or replaced: changes are refused"
        case .storeWritable: "the store can be written again"
        case .entryNotWritten: "a change could not be written"
        case .undoDelayed: "a failed change can't be rolled back yet: the store can't be read"
        case .trimFailed: "old notifications can't be dropped"
        case .personErased: "a person was erased"
        case .erasureDelayed: "a person could not be erased yet: the daemon retries"
        case .erasureBlocked:
            "a person can't be erased from a damaged store: the next start retries"
        case .connectionClosed: "a connection was closed"
        case .connectionRefused: "a connection was refused"
        case .callDenied: "a call was denied"
        case .notificationsMissed: "a subscriber missed notifications"
        case .repeated: "repetitions of a message were not logged"
        }
    }
}
