"""Draws a picture of a person with MuJoCo, as input of airframe-eyes for the picture in etc/manual/eyes.md.

    .build/peers/venv/bin/python Tests/Peers/person_picture.py person.png

The script needs Debian's packages libosmesa6 (rendering without a screen) and ffmpeg (writes the PNG file).
"""

import os
import subprocess
import sys

os.environ.setdefault("MUJOCO_GL", "osmesa")
import mujoco  # noqa: E402  (MuJoCo reads MUJOCO_GL when it is imported)

WIDTH, HEIGHT = 640, 480
# Pixels rendered per pixel of the picture, in each direction: smooth edges.
OVERSAMPLING = 2
SKIN, HAIR, DARK, WHITE, LIPS = "0.85 0.65 0.52 1", "0.2 0.12 0.08 1", "0.1 0.1 0.1 1", "1 1 1 1", "0.7 0.3 0.3 1"
SHIRT, TROUSERS = "0.15 0.35 0.7 1", "0.2 0.2 0.26 1"


def capsule(start, end, radius, colour):
    """A capsule between two points; metres, x forward, y left, z up."""
    ends = " ".join(str(value) for value in (*start, *end))
    return f'<geom type="capsule" fromto="{ends}" size="{radius}" rgba="{colour}"/>'


def ellipsoid(centre, radii, colour):
    """An ellipsoid with axes along x, y and z; metres."""
    place, size = (" ".join(str(value) for value in values) for values in (centre, radii))
    return f'<geom type="ellipsoid" pos="{place}" size="{size}" rgba="{colour}"/>'


def person():
    """The shapes of a standing person of 1.76 m who waves with the left hand."""
    shapes = [
        ellipsoid((0, 0, 1.22), (0.115, 0.165, 0.30), SHIRT),
        capsule((0, -0.13, 1.41), (0, 0.13, 1.41), 0.075, SHIRT),
        ellipsoid((0, 0, 0.96), (0.115, 0.16, 0.13), TROUSERS),
        capsule((0, 0, 1.45), (0, 0, 1.56), 0.052, SKIN),
        ellipsoid((0.01, 0, 1.645), (0.095, 0.078, 0.12), SKIN),
        ellipsoid((-0.018, 0, 1.685), (0.098, 0.086, 0.10), HAIR),
        capsule((0.098, 0, 1.655), (0.112, 0, 1.625), 0.011, SKIN),
        capsule((0.095, -0.022, 1.585), (0.095, 0.022, 1.585), 0.006, LIPS),
    ]
    for side in (1, -1):
        shapes += [
            capsule((0, 0.09 * side, 0.92), (0.03 * side, 0.12 * side, 0.50), 0.078, TROUSERS),
            capsule((0.03 * side, 0.12 * side, 0.50), (-0.05 * side, 0.125 * side, 0.10), 0.056, TROUSERS),
            capsule((-0.04 * side, 0.125 * side, 0.05), (0.13 - 0.05 * side, 0.135 * side, 0.045), 0.045, DARK),
            ellipsoid((0.098, 0.034 * side, 1.665), (0.012, 0.016, 0.009), WHITE),
            ellipsoid((0.107, 0.034 * side, 1.665), (0.007, 0.007, 0.007), DARK),
            capsule((0.10, 0.018 * side, 1.688), (0.095, 0.050 * side, 1.687), 0.004, HAIR),
            ellipsoid((0, 0.082 * side, 1.645), (0.022, 0.012, 0.032), SKIN),
        ]
    # The right arm hangs, the left arm waves: shoulder, elbow, wrist, hand.
    for joints in (
        ((0, -0.19, 1.42), (0, -0.28, 1.15), (0.11, -0.28, 0.92), (0.15, -0.27, 0.84)),
        ((0, 0.19, 1.42), (0.04, 0.44, 1.32), (0.12, 0.52, 1.58), (0.13, 0.53, 1.67)),
    ):
        shapes += [
            capsule(joints[0], joints[1], 0.050, SHIRT),
            capsule(joints[1], joints[2], 0.038, SKIN),
            capsule(joints[2], joints[3], 0.036, SKIN),
        ]
    return "".join(shapes)


def scene():
    """MuJoCo's model: sky, grass, two buildings, the person, and the camera in front of the person."""
    return f"""
<mujoco>
  <visual>
    <global offwidth="{WIDTH * OVERSAMPLING}" offheight="{HEIGHT * OVERSAMPLING}"/>
    <quality shadowsize="4096" offsamples="8"/>
    <headlight ambient="0.5 0.5 0.5" diffuse="0.3 0.3 0.3"/>
  </visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.55 0.7 0.9" rgb2="0.9 0.95 1" width="256" height="256"/>
    <texture name="grass" type="2d" builtin="flat" rgb1="0.5 0.62 0.42" width="256" height="256" mark="random"
      markrgb="0.42 0.54 0.36"/>
    <material name="grass" texture="grass" texrepeat="40 40"/>
  </asset>
  <worldbody>
    <light pos="3 2 6" dir="-0.4 -0.25 -0.85" diffuse="0.7 0.7 0.65"/>
    <geom type="plane" size="40 40 0.1" material="grass"/>
    <geom type="box" pos="-9 -6 1.6" size="2 3 1.6" rgba="0.75 0.68 0.6 1"/>
    <geom type="box" pos="-12 6 2.5" size="2 4 2.5" rgba="0.65 0.66 0.7 1"/>
    <body euler="0 0 10">{person()}</body>
    <camera name="front" pos="3.3 0.1 1.15" xyaxes="0 1 0 -0.02 0 1" fovy="42"/>
  </worldbody>
</mujoco>"""


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: person_picture.py FILE.png")
    model = mujoco.MjModel.from_xml_string(scene())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    size = WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING
    with mujoco.Renderer(model, size[1], size[0]) as renderer:
        renderer.update_scene(data, "front")
        pixels = renderer.render().tobytes()
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"]
        + ["-video_size", f"{size[0]}x{size[1]}", "-i", "-", "-vf", f"scale={WIDTH}:{HEIGHT}:flags=area", sys.argv[1]],
        input=pixels, check=True)


if __name__ == "__main__":
    main()
