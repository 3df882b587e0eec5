public import AtriumKit

/// The questions that a source has not answered: at most a few hundred, of more the last.
public struct OpenQuestions {
    private static let most = 256

    private var questions: [Int: ContentQuestion] = [:]
    private var last = 0

    /// None.
    public init() {}

    /// The source is asked; numbers go up.
    public mutating func add(_ number: Int, _ question: ContentQuestion) {
        last = max(last, number)
        questions[number] = question
        // What it leaves unanswered nobody waits for any more.
        if questions.count > Self.most, let first = questions.keys.min() { questions[first] = nil }
    }

    /// The source answers.
    ///
    /// - Returns: the question; nil: it is not open any more.
    public mutating func take(_ number: Int) -> ContentQuestion? {
        questions.removeValue(forKey: number)
    }

    /// Whether a question of this number was ever asked.
    public func wasAsked(_ number: Int) -> Bool { (1...max(last, 1)).contains(number) && last > 0 }
}
