"""Takes the pictures of the docs, in few colours. PYTHON has the libraries of scripts/site-requirements.txt.

Pictures of docs/tutorials/first.md show the report of the run on that page, in headless Chromium:

    PYTHON scripts/pictures.py out/release/report.html docs/tutorials/pictures

fit.png there shows a command and its output in a terminal of 80 columns, in colour:

    PYTHON scripts/pictures.py --terminal docs/tutorials/pictures/fit.png dptrain fit --data testdata/houses.csv ...

The picture of docs/guide/ui.md is ui-columns.png among the screenshots of a test:

    DPTRAIN_UI_SHOTS=shots go test ./cmd/dptrain -run TestHospitalWorkflowInChromium
    PYTHON scripts/pictures.py shots/ui-columns.png docs/guide/pictures
"""

import html
import os
import pathlib
import pty
import re
import shlex
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops

SHOTS = {  # name: (width, height, part of the page, dark)
    "report": (1000, 900, "", False),
    "report-quality": (1000, 760, "quality", False),
    "report-shapes": (1000, 995, "shapes", False),
    "report-budget": (1000, 900, "budget", False),
    "report-phone": (500, 900, "columns", True),
}


COLOURS = {"1": "font-weight:bold", "2": "opacity:.65", "31": "color:#ff7b72", "32": "color:#7ee787", "33": "color:#e3b341", "36": "color:#79c0ff"}
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #fff; }
pre { margin: 0; padding: 20px 24px; width: 80ch; white-space: pre-wrap; word-break: break-all; background: #161b22; color: #e6edf3; font: 15px/1.35 "DejaVu Sans Mono", monospace; }
</style><pre>%s</pre>"""


def main(source, *rest):
    if source == "--terminal":
        path, *command = rest
        terminal(pathlib.Path(path), command)
        return
    (folder,) = rest
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if source.endswith(".png"):
        save(Image.open(source).convert("RGB"), pathlib.Path(folder) / pathlib.Path(source).name)
        return
    for name, (width, height, part, dark) in SHOTS.items():
        text = pathlib.Path(source).read_text(encoding="utf-8")
        if part:  # alone, as if scrolled to
            text = text.replace("</head>", f"<style>header, nav, main > section:not(#{part}) {{ display: none }}</style></head>")
        picture = shoot(text, width, height, dark)
        blank = Image.new("RGB", picture.size, picture.getpixel((0, height - 1)))
        bottom = (ImageChops.difference(picture, blank).getbbox() or (0, 0, width, height))[3]
        save(picture.crop((0, 0, width, min(height, bottom + 24))), pathlib.Path(folder) / f"{name}.png")


def shoot(page, width, height, dark):
    """Returns the picture of a page in a window of the given size."""
    with tempfile.TemporaryDirectory() as home:
        shot, file = pathlib.Path(home) / "shot.png", pathlib.Path(home) / "page.html"
        file.write_text(page, encoding="utf-8")
        subprocess.run(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={home}",
                f"--window-size={width},{height}", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                "--virtual-time-budget=2000", f"--screenshot={shot}", file.as_uri(),
            ],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return Image.open(shot).convert("RGB")


def terminal(path, command):
    """Runs a command in a terminal of 80 columns and takes a picture of it and its output."""
    out = bytearray()

    def read(descriptor):
        data = os.read(descriptor, 4096)
        out.extend(data)
        return data

    os.environ.update(COLUMNS="80", TERM="xterm-256color")
    if status := pty.spawn(command, read):
        sys.exit(f"{shlex.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in out.decode().split("\n")]
    text = "$ " + shlex.join([pathlib.Path(command[0]).name, *command[1:]]) + "\n" + "\n".join(lines).rstrip()
    picture = shoot(TERMINAL % styled(text), 1000, 30 + 22 * (text.count("\n") + 3), False)
    blank = Image.new("RGB", picture.size, (255, 255, 255))
    save(picture.crop(ImageChops.difference(picture, blank).getbbox()), path)


def styled(text):
    """Returns text with the colours of a terminal as HTML."""
    parts = re.split(r"\x1b\[([0-9;]*)([A-Za-z])", text)
    out, is_open = [html.escape(parts[0])], False
    for codes, letter, plain in zip(parts[1::3], parts[2::3], parts[3::3]):
        if letter == "m":
            out.append("</span>" * is_open)
            style = ";".join(COLOURS[c] for c in codes.split(";") if c in COLOURS)
            is_open = bool(style)
            out.append(f'<span style="{style}">' * is_open)
        out.append(html.escape(plain))
    return "".join(out) + "</span>" * is_open


def save(picture, path):
    """Writes a picture with 32 colours."""
    picture.quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
