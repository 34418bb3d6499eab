"""Takes the pictures of docs/tutorials/first.md: the report of the run on that page, in headless Chromium, in few colours.
PYTHON has the libraries of scripts/site-requirements.txt.

    PYTHON scripts/pictures.py out/release/report.html docs/tutorials/pictures
"""

import pathlib
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops

SHOTS = {  # name: (width, height, part of the page, dark)
    "report": (1000, 900, "", False),
    "report-quality": (1000, 760, "quality", False),
    "report-shapes": (1000, 900, "shapes", False),
    "report-budget": (1000, 900, "budget", False),
    "report-phone": (500, 900, "columns", True),
}


def main(report, folder):
    for name, (width, height, part, dark) in SHOTS.items():
        with tempfile.TemporaryDirectory() as home:
            shot, page = pathlib.Path(home) / "shot.png", pathlib.Path(home) / "page.html"
            text = pathlib.Path(report).read_text(encoding="utf-8")
            if part:  # alone, as if scrolled to
                text = text.replace("</head>", f"<style>header, nav, main > section:not(#{part}) {{ display: none }}</style></head>")
            page.write_text(text, encoding="utf-8")
            subprocess.run(
                [
                    "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={home}",
                    f"--window-size={width},{height}", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                    "--virtual-time-budget=2000", f"--screenshot={shot}", page.as_uri(),
                ],
                check=True, capture_output=True, timeout=120,
            )  # fmt: skip
            picture = Image.open(shot).convert("RGB")
            blank = Image.new("RGB", picture.size, picture.getpixel((0, height - 1)))
            bottom = (ImageChops.difference(picture, blank).getbbox() or (0, 0, width, height))[3]
            picture = picture.crop((0, 0, width, min(height, bottom + 24))).quantize(32, dither=Image.Dither.NONE)
            picture.save(pathlib.Path(folder) / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
