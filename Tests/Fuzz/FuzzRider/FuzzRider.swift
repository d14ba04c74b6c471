import FuzzTargets

/// Entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRider(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTargets.rider(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
