import Testing

extension Tag {
    /// Promises of the README, by their subject.
    @Tag static var neverLost: Self
    @Tag static var neverPartial: Self
    @Tag static var neverOverwritten: Self
    @Tag static var exactlyOnce: Self
    @Tag static var harmsNobody: Self
    @Tag static var saysWhatIsWrong: Self
    @Tag static var untouched: Self
    @Tag static var stopsAnywhere: Self
}
