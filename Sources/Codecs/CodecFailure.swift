package import PhotoModel

/// Why there is no preview. The detail is for a person and may quote a library, but never the file itself.
package struct CodecFailure: Error, Hashable, Sendable {
    /// `.corrupt`, `.truncated`, `.unsupported`, `.tooLarge`, `.encode` or `.memory`.
    package let code: Problem.Code
    /// A clause without full stop: "the picture has 2500 megapixels, more than the limit of 400".
    package let detail: String

    package init(_ code: Problem.Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func tooLarge(_ width: Int, _ height: Int, limit: Pixels) -> CodecFailure {
        CodecFailure(.tooLarge, "the picture has \(width) x \(height) pixels, more than the limit of \(limit.count)")
    }
}
