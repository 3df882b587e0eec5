public import AtriumKit

extension ComponentCommand {
    /// The command's name in messages.
    public var name: String {
        switch self {
        case .putItems: "putItems"
        case .removeItems: "removeItems"
        case .castBallot: "castBallot"
        case .retractBallot: "retractBallot"
        case .postComment: "postComment"
        case .editComment: "editComment"
        case .deleteComment: "deleteComment"
        case .moderateComment: "moderateComment"
        case .restoreRecords: "restoreRecords"
        }
    }
}

extension ComponentQuery {
    /// The query's name in messages.
    public var name: String {
        switch self {
        case .canTake: "canTake"
        case .details: "details"
        case .sections: "sections"
        case .filters: "filters"
        case .select: "select"
        case .deselect: "deselect"
        case .clear: "clear"
        case .ballotsOf: "ballotsOf"
        case .ballots: "ballots"
        case .comment: "comment"
        case .thread: "thread"
        case .pendingComments: "pendingComments"
        case .recordKeys: "recordKeys"
        case .recordKeyPage: "recordKeyPage"
        }
    }
}
