public import AtriumKit

/// The questions that a source has not answered: the latest 256 of them.
public struct OpenQuestions {
    private static let most = 256

    private var questions: [Int: ContentQuestion] = [:]
    private var last = 0

    /// Makes an empty list.
    public init() {}

    /// Adds a question; numbers must ascend.
    public mutating func add(_ number: Int, _ question: ContentQuestion) {
        last = max(last, number)
        questions[number] = question
        // By now the caller of a question that the source left unanswered has given up.
        if questions.count > Self.most, let first = questions.keys.min() { questions[first] = nil }
    }

    /// Removes the question that the source answered, and returns it; nil: it is not open any more.
    public mutating func take(_ number: Int) -> ContentQuestion? {
        questions.removeValue(forKey: number)
    }

    /// Whether a number is at most that of the last question.
    public func wasAsked(_ number: Int) -> Bool { (1...max(last, 1)).contains(number) && last > 0 }
}
