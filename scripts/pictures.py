"""Takes the pictures of the docs, in few colours. PYTHON has the libraries of scripts/site-requirements.txt.

Pictures of docs/tutorials/first.md show the report of the run on that page, in headless Chromium:

    PYTHON scripts/pictures.py out/release/report.html docs/tutorials/pictures

The picture of docs/guide/ui.md is ui-columns.png among the screenshots of a test:

    DPTRAIN_UI_SHOTS=shots go test ./cmd/dptrain -run TestHospitalWorkflowInChromium
    PYTHON scripts/pictures.py shots/ui-columns.png docs/guide/pictures
"""

import pathlib
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


def main(source, folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if source.endswith(".png"):
        save(Image.open(source).convert("RGB"), pathlib.Path(folder) / pathlib.Path(source).name)
        return
    for name, (width, height, part, dark) in SHOTS.items():
        with tempfile.TemporaryDirectory() as home:
            shot, page = pathlib.Path(home) / "shot.png", pathlib.Path(home) / "page.html"
            text = pathlib.Path(source).read_text(encoding="utf-8")
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
            save(picture.crop((0, 0, width, min(height, bottom + 24))), pathlib.Path(folder) / f"{name}.png")


def save(picture, path):
    """Writes a picture with 32 colours."""
    picture.quantize(32, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
