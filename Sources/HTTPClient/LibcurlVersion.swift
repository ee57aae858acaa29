internal import CCurl

/// `7.88.1`, of the library that is loaded.
package func libcurlVersion() -> String {
    unsafe curl_loaded_version().map { unsafe String(cString: $0) } ?? ""
}
