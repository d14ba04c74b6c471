#if hasFeature(Embedded)
    /// Value that a recording can contain in the form of `Codable`, which Embedded Swift lacks.
    /// Programs without the full runtime do not record.
    public protocol Recordable {}
#else
    /// Value that a recording can contain in the form of `Codable`.
    public typealias Recordable = Codable
#endif
