internal import GimbalCore

extension DynamixelCodec {
    /// Fault that the register "hardware error status" indicates.
    static func fault(_ byte: UInt8, _ axis: GimbalAxis) -> DriveReading {
        var news = DriveReading(axis: axis)
        news.fault = UInt32(byte)
        var causes: DriveCauses = []
        if byte & 0x20 != 0 { causes.insert(.overload) }
        if byte & 0x04 != 0 { causes.insert(.overheated) }
        if byte & 0x01 != 0 { causes.insert(.voltage) }
        if byte & 0x0A != 0 { causes.insert(.encoder) }
        if byte & 0xD0 != 0 { causes.insert(.other) }
        news.causes = causes
        return news
    }
}
