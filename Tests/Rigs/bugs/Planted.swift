import Glibc

/// Whether the environment asks for this fault. Only the copy that planted.py builds has this file, and the patches
/// beside it that ask.
package func isPlanted(_ bug: String) -> Bool {
    guard let name = unsafe getenv("PLANTED") else { return false }
    return unsafe String(cString: name) == bug
}
