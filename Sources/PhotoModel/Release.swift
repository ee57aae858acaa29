/// The release that all three programs belong to, as `--version`, the status and the library's journal name it.
package enum Release {
    /// Semantic versioning 2.0.0.
    package static let version = "0.1.0"
}
