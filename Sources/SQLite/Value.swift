/// What is bound to a parameter; one case per storage class. <https://www.sqlite.org/datatype3.html>
package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    package static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    package static func integer(_ number: Int64?) -> Value { number.map { .integer($0) } ?? .null }
    package static func real(_ number: Double?) -> Value { number.map { .real($0) } ?? .null }
    package static func blob(_ bytes: [UInt8]?) -> Value { bytes.map { .blob($0) } ?? .null }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}
