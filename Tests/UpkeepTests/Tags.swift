import Testing

extension Tag {
    /// Promises of the README, by their subject.
    @Tag static var neverLost: Self
    @Tag static var stopsAnywhere: Self
}
