/// A file that may be handed around; closed when the last holder lets go.
package final class OpenFile: Sendable {
    package let descriptor: Descriptor
    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
