import Configuration
import FoundationEssentials
import Shots
import Wire

/// Description of a shot from a browser: TOML text, as in a file for `airframectl shoot`.
enum ShotText {
    /// Shutters that a browser can select. A browser must not start commands on this computer, and
    /// the service airframe-web cannot use GPIO lines.
    static let shutters: [ShutterSettings.Kind] = [.none, .eyes, .mavlink]

    /// Checks a description.
    ///
    /// - Returns: A sentence with the problem; nil if the description is valid.
    static func problem(of bytes: [UInt8]) -> String? {
        do {
            let json = try TOMLText.json(bytes, path: "shot")
            let recipe = try JSONDecoder().decode(ShotRecipe.self, from: Data(json.utf8))
            guard shutters.contains(recipe.shutter.kind) else {
                return
                    "The page cannot use the shutter \"\(recipe.shutter.kind.rawValue)\". Use airframectl shoot, or one of: \(shutters.map(\.rawValue).joined(separator: ", "))."
            }
            return nil
        } catch let problem as ConfigurationProblem {
            return "\(problem)"
        } catch let problem as RecipeProblem {
            return problem.sentence + (problem.sentence.hasSuffix("?") ? "" : ".")
        } catch {
            return "The description of the shot cannot be read."
        }
    }

    /// The numeric keys of each kind of shot, for the page's form.
    static let keys: JSONValue = {
        func list(_ keys: [RecipeKey]) -> JSONValue { .array(keys.map(json)) }
        return [
            "kinds": [
                "panorama": list(ShotRecipe.Panorama.keys),
                "timelapse": list(ShotRecipe.Timelapse.keys), "orbit": list(ShotRecipe.Orbit.keys),
            ],
            "frame": list(ShotRecipe.KeyFrame.keys), "rate": json(ShotRecipe.rateKey),
            "shutters": .array(shutters.map { .string($0.rawValue) }),
        ]
    }()

    private static func json(_ key: RecipeKey) -> JSONValue {
        [
            "name": .string(key.name), "summary": .string(key.summary), "unit": .string(key.unit),
            "low": .double(key.range.lowerBound), "high": .double(key.range.upperBound),
            "default": key.usual.map { .double($0) } ?? .null, "whole": .bool(key.isWhole),
        ]
    }
}
