// swift-tools-version: 6.3
import PackageDescription

/// Every room is built alike: Swift 6, warnings are errors, each unsafe step is written out.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// One C library each: a module map and `static inline` shims, no logic.
func library(_ name: String, _ pkgConfig: String?, apt package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, exclude: [], swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The order is the architecture: a target depends only on targets above it.
let package = Package(
    name: "photospool",
    targets: [
        library("CSystemd", "libsystemd", apt: "libsystemd-dev"),
        library("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        library("CMicrohttpd", "libmicrohttpd", apt: "libmicrohttpd-dev"),
        library("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
        library("CCrypto", "libcrypto", apt: "libssl-dev"),
        library("CTurboJPEG", "libturbojpeg", apt: "libturbojpeg0-dev"),
        library("CHEIF", "libheif", apt: "libheif-dev"),
        // Its pkg-config names a macro for Windows, which SwiftPM warns of; the header and the library need no flag.
        library("CAVIF", nil, apt: "libavif-dev"),
        library("CSPNG", "spng", apt: "libspng-dev"),
        // Its pkg-config needs libwebp, whose header and library come along.
        library("CWebP", "libwebpdemux", apt: "libwebp-dev"),
        library("CTIFF", "libtiff-4", apt: "libtiff-dev"),
        // Ships no pkg-config.
        library("CGIF", nil, apt: "libgif-dev"),
        // Its pkg-config names a macro that SwiftPM warns of; the header and the library need no flag.
        library("CJXL", nil, apt: "libjxl-dev"),
        // Its pkg-config names a flag for OpenMP, which SwiftPM warns of; only the library was built with it.
        library("CRaw", nil, apt: "libraw-dev"),
        library("CZlib", "zlib", apt: "zlib1g-dev"),
        library("CBrotli", "libbrotlidec", apt: "libbrotli-dev"),
        library("CExpat", "expat", apt: "libexpat1-dev"),
        library("CLCMS", "lcms2", apt: "liblcms2-dev"),
        // Its other libraries are named by the module map.
        library("CFFmpeg", "libavformat", apt: "libavformat-dev"),
        library("CSeccomp", "libseccomp", apt: "libseccomp-dev"),
        .target(name: "CLinux", cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]),
        .target(name: "CResample", cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]),
        .target(name: "CTOML", cxxSettings: [.unsafeFlags(["-Wall", "-Wextra"])]),

        room("PhotoModel", []),
        room("ControlAPI", ["PhotoModel"]),
        room("Workers", ["PhotoModel", "CLinux"]),
        room("Files", ["PhotoModel", "CLinux", "CCrypto"]),
        room("SQLite", ["CSQLite"]),
        room("DecoderWire", ["PhotoModel", "Files", "CLinux"]),
        room("Metadata", ["PhotoModel", "CZlib", "CBrotli", "CExpat"]),
        room(
            "Codecs",
            [
                "PhotoModel", "Metadata", "CResample", "CTurboJPEG", "CHEIF", "CAVIF", "CSPNG", "CWebP", "CTIFF",
                "CGIF", "CJXL", "CRaw", "CLCMS",
            ]),
        room("Movies", ["PhotoModel", "Codecs", "CFFmpeg"]),
        room(
            "DecoderHost",
            ["PhotoModel", "Files", "DecoderWire", "Codecs", "Metadata", "CLinux", "CSeccomp"]),
        room("Watch", ["PhotoModel", "Workers", "Files", "CLinux"]),
        room("Store", ["PhotoModel", "Files", "SQLite"]),
        room("Preview", ["PhotoModel", "Workers", "Files", "DecoderWire", "CLinux"]),
        room("Ingest", ["PhotoModel", "Workers", "Files", "Store", "Preview"]),
        room("Upkeep", ["PhotoModel", "Workers", "Files", "Store", "Preview", "Ingest"]),
        room("HTTP", ["PhotoModel", "Files", "CMicrohttpd", "CLinux"]),
        room("HTTPClient", ["PhotoModel", "CCurl"]),
        room("Config", ["PhotoModel", "Files", "CTOML"]),
        room("Service", ["PhotoModel", "Workers", "Files", "CSystemd", "CLinux"]),
        room("Control", ["PhotoModel", "ControlAPI", "Workers", "Files", "Store", "HTTP"]),

        program(
            "photospoold",
            [
                "PhotoModel", "Workers", "Files", "Watch", "Store", "Preview", "Ingest", "Upkeep", "Config", "Service",
                "Control",
                "CLinux",
            ]),
        program(
            "photospool-decoder", ["PhotoModel", "Codecs", "DecoderHost", "CHEIF"]),
        program("photospool-decoder-av", ["PhotoModel", "Codecs", "Movies", "DecoderHost"]),
        program(
            "photospool",
            ["PhotoModel", "ControlAPI", "Files", "Store", "Preview", "Ingest", "HTTPClient", "Config", "CLinux"]),
        // `package` reaches no other package, so this benchmark is a target of this one.
        .executableTarget(
            name: "preview-bench", dependencies: ["PhotoModel", "Files", "Preview"], path: "Benchmarks/PreviewBench",
            swiftSettings: strict),

        tests("PhotoModelTests", ["PhotoModel"]),
        .target(
            name: "TestSupport", dependencies: ["PhotoModel", "ControlAPI", "HTTPClient"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("FilesTests", ["Files", "PhotoModel", "TestSupport"]),
        tests("WorkersTests", ["Workers", "PhotoModel"]),
        tests("DecoderWireTests", ["DecoderWire", "PhotoModel", "Files"]),
        tests(
            "CodecsTests",
            [
                "Codecs", "Metadata", "PhotoModel", "CResample", "CTurboJPEG", "CAVIF", "CSPNG", "CLCMS", "CZlib",
                "TestSupport",
            ]),
        tests("MoviesTests", ["Movies", "Codecs", "PhotoModel", "TestSupport"]),
        tests("MetadataTests", ["Metadata", "PhotoModel", "CZlib", "TestSupport"]),
        tests("SQLiteTests", ["SQLite"]),
        tests("WatchTests", ["Watch", "Files", "PhotoModel"]),
        tests("StoreTests", ["Store", "SQLite", "PhotoModel", "Files"]),
        tests("IngestTests", ["Ingest", "Store", "PhotoModel", "Files", "TestSupport"]),
        tests("UpkeepTests", ["Upkeep", "Ingest", "Store", "PhotoModel", "Files", "TestSupport"]),
        tests("ConfigTests", ["Config", "Files", "PhotoModel"]),
        .executableTarget(
            name: "service-probe", dependencies: ["Service", "Files", "PhotoModel"], path: "Tests/ServiceProbe",
            swiftSettings: strict),
        tests("ServiceTests", ["Service", "Files", "PhotoModel", "service-probe"]),
        tests("ControlAPITests", ["ControlAPI", "PhotoModel"]),
        tests("HTTPTests", ["HTTP", "PhotoModel", "Files", "CMicrohttpd"]),
        tests(
            "ControlTests", ["Control", "ControlAPI", "PhotoModel", "Files", "Store", "HTTP", "CMicrohttpd"]),
        .target(name: "FakeService", path: "Tests/FakeService", swiftSettings: strict),
        tests("HTTPClientTests", ["HTTPClient", "PhotoModel", "FakeService"]),
        tests("ClientTests", ["photospool", "FakeService", "PhotoModel", "Files"]),
        // Stands in for the decoder and misbehaves; started by PreviewTests.
        .executableTarget(
            name: "decoder-double", dependencies: ["PhotoModel", "Files", "DecoderWire"], path: "Tests/DecoderDouble",
            swiftSettings: strict),
        tests(
            "PreviewTests",
            [
                "Preview", "PhotoModel", "Files", "DecoderWire", "photospool-decoder", "photospool-decoder-av",
                "decoder-double", "TestSupport",
            ]),
        tests("DaemonTests", ["photospoold", "PhotoModel"]),
        tests(
            "EndToEndTests",
            [
                "TestSupport", "ControlAPI", "HTTPClient", "PhotoModel", "Files", "Store", "photospoold", "photospool",
                "photospool-decoder", "decoder-double",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// `make fuzz` builds it alone: only a build for libFuzzer has a main function for it.
if Context.environment["PHOTOSPOOL_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "photospool-fuzz",
            dependencies: [
                "PhotoModel", "Files", "DecoderWire", "Metadata", "Codecs", "Store", "Preview", "HTTPClient",
            ],
            path: "Tests/Fuzz", exclude: ["run.py"], swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
