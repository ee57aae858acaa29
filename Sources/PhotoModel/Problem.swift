/// Why something did not work, in one form for the log, the API and a person.
///
/// ``whatHappened`` names the thing and the cause, ``whatToDo`` the next step; both are whole sentences. Text that came
/// from a file passes ``SafeText`` before it enters either.
package struct Problem: Error, Hashable, Sendable, Codable {
    package let code: Code
    /// "Could not write 2026/IMG_0001.HEIC: no space left on device (ENOSPC)."
    package let whatHappened: String
    /// "Free space on the library's disk; the import then goes on by itself."
    package let whatToDo: String

    package init(_ code: Code, _ whatHappened: String, todo whatToDo: String? = nil) {
        self.code = code
        self.whatHappened = whatHappened
        self.whatToDo = whatToDo ?? code.usualRemedy
    }

    /// Whether the daemon tries again by itself.
    package var isTransient: Bool { code.isTransient }
}
