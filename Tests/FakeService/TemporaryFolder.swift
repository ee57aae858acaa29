import Glibc

/// A call of the fixture itself failed: the test cannot tell anything.
package struct FixtureFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, _ number: Int32) { description = "\(what) failed with errno \(number)" }
    package init(_ description: String) { self.description = description }
}

/// A new, empty folder, with a path short enough for a socket in it.
package func makeTemporaryFolder() throws -> String {
    var template = Array("/tmp/photospool-test.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw FixtureFailure("mkdtemp", errno) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
