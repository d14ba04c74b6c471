import WebTarget

/// Entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWeb(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    WebTarget.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
