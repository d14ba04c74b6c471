import FuzzTargets

/// Entry point that libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIIO(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTargets.iio(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
