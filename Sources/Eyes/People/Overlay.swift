import CVideo
import People

/// Overlay on the stream's pictures: people's skeletons, boxes, and a line of text. The type has no
/// side effects.
struct Overlay {
    /// Shapes to draw, in the coordinates of the picture.
    private(set) var shapes: [cv_shape] = []

    /// Lines of a skeleton, as pairs of body points.
    private static let bones: [(Landmark.Part, Landmark.Part)] = [
        (.leftShoulder, .rightShoulder), (.leftShoulder, .leftElbow), (.leftElbow, .leftWrist),
        (.rightShoulder, .rightElbow), (.rightElbow, .rightWrist), (.leftShoulder, .leftHip),
        (.rightShoulder, .rightHip), (.leftHip, .rightHip), (.leftHip, .leftKnee),
        (.leftKnee, .leftAnkle), (.rightHip, .rightKnee), (.rightKnee, .rightAnkle),
        (.leftAnkle, .leftFootIndex), (.rightAnkle, .rightFootIndex), (.leftEar, .leftEye),
        (.leftEye, .nose), (.nose, .rightEye), (.rightEye, .rightEar),
    ]
    /// Brightness and colour of the lines, for the followed person, other people and text.
    private static let (followed, other, white) = (
        (UInt8(190), UInt8(70), UInt8(90)), (UInt8(150), UInt8(128), UInt8(128)),
        (UInt8(235), UInt8(128), UInt8(128))
    )

    /// Draws people and a line of text.
    ///
    /// - Parameters:
    ///   - people: The people, with positions in pixels of the picture, and their track IDs.
    ///   - target: Track ID of the followed person; nil if no person is followed.
    ///   - text: Line of text at the upper edge.
    ///   - width: Width of the picture, pixels.
    init(_ people: [(person: Person, id: Int?)], target: Int?, text: String, width: Int) {
        let thickness = max(2, Int32(width / 213))
        let scale = max(2, width / 240)
        for (person, id) in people {
            let colour = id != nil && id == target ? Self.followed : Self.other
            for (a, b) in Self.bones {
                let (a, b) = (person[a], person[b])
                guard min(a.visibility, b.visibility) >= Person.visible else { continue }
                line(a.point, b.point, thickness, colour)
            }
            if id != nil, id == target { frame(person.box, thickness, colour) }
            if let id {
                write(
                    "\(id)", Int(person.box.left), Int(person.box.top) - 7 * scale, scale, colour)
            }
        }
        write(text, 4 * scale, 3 * scale, scale, Self.white)
    }

    private typealias Colour = (UInt8, UInt8, UInt8)

    private mutating func line(_ a: PixelPoint, _ b: PixelPoint, _ thickness: Int32, _ c: Colour) {
        shapes.append(
            cv_shape(
                is_line: true, x0: Float(a.x), y0: Float(a.y), x1: Float(b.x), y1: Float(b.y),
                thickness: thickness, luma: c.0, u: c.1, v: c.2))
    }

    private mutating func frame(_ box: PixelBox, _ thickness: Int32, _ colour: Colour) {
        let (right, bottom) = (box.left + box.width, box.top + box.height)
        let corners = [
            PixelPoint(x: box.left, y: box.top), PixelPoint(x: right, y: box.top),
            PixelPoint(x: right, y: bottom), PixelPoint(x: box.left, y: bottom),
        ]
        for index in corners.indices {
            line(corners[index], corners[(index + 1) % 4], thickness, colour)
        }
    }

    private mutating func write(_ text: String, _ x: Int, _ y: Int, _ scale: Int, _ c: Colour) {
        Glyphs.forEachPixel(of: text) { column, row in
            let (left, top) = (x + column * scale, y + row * scale)
            shapes.append(
                cv_shape(
                    is_line: false, x0: Float(left), y0: Float(top), x1: Float(left + scale),
                    y1: Float(top + scale), thickness: 0, luma: c.0, u: c.1, v: c.2))
        }
    }
}
