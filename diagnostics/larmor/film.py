"""Films of one mesh. The axes and all words but the title are drawn once; a frame replaces the values and the title."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from .errors import RunError
from .figure import label_of, sign
from .maps import ENDS, colour_map, draw, ends_of, limits_of, picture_of, precision_of, title_of
from .run import Run

DPI = 110


def movie(run: Run, name: str, output: str | Path, source: str | None = None, limits: ENDS | None = None,
          cmap: str | None = None, rate: float = 10) -> Path:
    """All steps of one mesh as a film with fixed colours: .mp4 where ffmpeg is installed, .gif else. `rate`: frames a
    second. Returns the path, whose ending may differ from that of `output`."""
    source, steps = run.source_of(name, source)
    path = Path(output)
    if path.suffix != ".gif" and not shutil.which("ffmpeg"):
        path = path.with_suffix(".gif")
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = _frames(run, name, source, steps, limits or _limits_of_all(run, name, source, steps), cmap)
    (_write_gif if path.suffix == ".gif" else _write_with_ffmpeg)(path, frames, rate)
    return path


def _limits_of_all(run: Run, name: str, source: str, steps: Sequence[int]) -> ENDS:
    ends = []
    for step in steps:
        with run.frame(source, step) as frame:
            values = frame[name]
        ends.append(ends_of(values))
    return limits_of(ends, precision_of(values))


def _frames(run: Run, name: str, source: str, steps: Sequence[int], limits: ENDS, cmap: str | None) -> Iterator[np.ndarray]:
    """The pixels of each step, [row, column, red green blue]."""
    with run.frame(source, steps[0]) as frame:
        picture = picture_of(frame, name, size=run.size)
        figure, axes, drawn = draw(picture, label_of(name, run), title_of(frame, name), limits, cmap or colour_map(*limits))
    file = "fields" if source == "fields" else f"outputs/{source}"
    sign(figure, run, file, f"steps {steps[0]} to {steps[-1]}", picture.places())
    figure.set_dpi(DPI)
    changing = (drawn, axes.title)
    for artist in changing:
        artist.set_animated(True)
    figure.canvas.draw()
    background = figure.canvas.copy_from_bbox(figure.bbox)
    try:
        for step in steps:
            with run.frame(source, step) as frame:
                picture = picture_of(frame, name, size=run.size)
                axes.title.set_text(title_of(frame, name))
            drawn.set_data(*picture.line()) if picture.is_line else drawn.set_data(np.ma.masked_invalid(picture.covering()[0]))
            figure.canvas.restore_region(background)
            for artist in (*changing, *axes.spines.values()):
                axes.draw_artist(artist)
            yield np.array(figure.canvas.buffer_rgba())[..., :3]
    finally:
        plt.close(figure)


def _write_gif(path: Path, frames: Iterator[np.ndarray], rate: float) -> None:
    """All frames have the 256 colours of the first one, whose colour bar has every colour of a map."""
    palette, images = None, []
    for pixels in frames:
        image = Image.fromarray(pixels)
        palette = palette or image.quantize(256, dither=Image.Dither.NONE)
        images.append(image.quantize(palette=palette, dither=Image.Dither.NONE))
    images[0].save(path, save_all=True, append_images=images[1:], duration=max(round(1000 / rate), 10), loop=0)


def _write_with_ffmpeg(path: Path, frames: Iterator[np.ndarray], rate: float) -> None:
    first = next(frames)
    height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2  # the codec wants even numbers
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
               "-r", f"{rate:g}", "-i", "-", "-pix_fmt", "yuv420p", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
        try:
            for pixels in chain([first], frames):
                encoder.stdin.write(np.ascontiguousarray(pixels[:height, :width]).tobytes())
            encoder.stdin.close()
        except BrokenPipeError:
            pass  # what ffmpeg says explains it
        message = encoder.stderr.read().decode(errors="replace").strip()
    if encoder.returncode:
        raise RunError(f"ffmpeg cannot write {path}: {message or 'it gives no reason'}")
