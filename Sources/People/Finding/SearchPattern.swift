/// Sequence of picture regions that the detector examines. The whole picture is for near people;
/// overlapping squares are for distant people, who are too small in the whole picture.
public struct SearchPattern: Sendable, Equatable {
    /// Parts of the picture to examine: first the whole picture, then the squares from the upper
    /// left to the lower right.
    public let regions: [SquareRegion]

    /// Creates the pattern for pictures of the given size.
    ///
    /// - Parameters:
    ///   - width: Width of the pictures, pixels.
    ///   - height: Height of the pictures, pixels.
    ///   - divisions: Number of parts along the picture's shorter edge; 1 means only the whole
    ///     picture.
    public init(width: Int, height: Int, divisions: Int) {
        let whole = SquareRegion(
            centre: PixelPoint(x: Double(width) / 2, y: Double(height) / 2),
            side: Double(max(width, height)))
        guard divisions > 1 else {
            regions = [whole]
            return
        }
        let side = Double(min(width, height)) / Double(divisions)
        // Adjacent squares overlap by at least a third of their edge. Therefore every body is
        // completely inside one square.
        func middles(_ length: Int) -> [Double] {
            let room = Double(length) - side
            let count = Int((room / (side * 2 / 3)).rounded(.up))
            return (0...count).map { side / 2 + room * Double($0) / Double(max(count, 1)) }
        }
        regions =
            [whole]
            + middles(height).flatMap { y in
                middles(width).map { x in
                    SquareRegion(centre: PixelPoint(x: x, y: y), side: side)
                }
            }
    }
}
