"""XDMF files for ParaView and VisIt, beside the HDF5 files that they refer to.

Each value is a node of a rectangular grid, at the place where the program has it. Quantities on faces and on corners of cells
are on grids of their own, which a viewer shows as blocks of one data set."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree as xml

import numpy as np

from .errors import RunError
from .openpmd import Fields
from .run import Run


def _places(frame: Fields) -> dict[tuple[float, float], list[str]]:
    """The meshes by the place of their first value, (x, y)."""
    found: dict[tuple[float, float], list[str]] = {}
    for name in frame.names:
        found.setdefault((round(float(frame.x(name)[0]), 12), round(float(frame.y(name)[0]), 12)), []).append(name)
    return found


def _spacing(coordinates: np.ndarray) -> float:
    return float(coordinates[1] - coordinates[0]) if len(coordinates) > 1 else 1.0


def _data(parent: xml.Element, dimensions: str, text: str, **attributes: str) -> None:
    xml.SubElement(parent, "DataItem", Dimensions=dimensions, NumberType="Float", **attributes).text = text


def _grid(parent: xml.Element, frame: Fields, file: str, names: list[str]) -> None:
    """One rectangular grid and the meshes that are on it. It has one layer along z: VTK turns grids of two dimensions."""
    x, y = frame.x(names[0]), frame.y(names[0])
    size = f"{len(y)} {len(x)}"
    grid = xml.SubElement(parent, "Grid", Name=f"x0 = {x[0]:.6g}, y0 = {y[0]:.6g}", GridType="Uniform")
    xml.SubElement(grid, "Topology", TopologyType="3DCoRectMesh", Dimensions=f"1 {size}")
    geometry = xml.SubElement(grid, "Geometry", GeometryType="ORIGIN_DXDYDZ")
    _data(geometry, "3", f"0 {y[0]:.17g} {x[0]:.17g}", Format="XML", Precision="8")
    _data(geometry, "3", f"1 {_spacing(y):.17g} {_spacing(x):.17g}", Format="XML", Precision="8")
    for name in names:
        attribute = xml.SubElement(grid, "Attribute", Name=name.replace("/", "_"), AttributeType="Scalar", Center="Node")
        path, precision = frame.path_of(name)
        _data(attribute, f"1 {size}", f"{file}:{path}", Format="HDF", Precision=str(precision))


def write(run: Run, source: str, output: str | Path | None = None) -> Path:
    """All steps of one output, "fields" or the NAME of [output.NAME]; by default DIR/SOURCE.xdmf. The HDF5 files are named
    relative to it."""
    if source not in run.sources:
        raise RunError(f"no output {source!r} in {run.directory}; there are: {', '.join(run.sources) or 'none'}")
    path = Path(output) if output else run.directory / f"{source}.xdmf"
    root = xml.Element("Xdmf", Version="2.0")
    series = xml.SubElement(xml.SubElement(root, "Domain"), "Grid", Name=source, GridType="Collection",
                            CollectionType="Temporal")
    for step in run.sources[source]:
        with run.frame(source, step) as frame:
            file = os.path.relpath(frame.file, path.parent)
            parts = xml.SubElement(series, "Grid", Name=f"step {step}", GridType="Collection", CollectionType="Spatial")
            xml.SubElement(parts, "Time", Value=f"{frame.time:.17g}")
            for names in _places(frame).values():
                _grid(parts, frame, file, names)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.indent(root)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return path


def write_all(run: Run) -> list[Path]:
    """A file for each output of values on the grid."""
    if not run.sources:
        raise RunError(f"{run.directory} holds no fields ([output] fields_every, or [output.NAME])")
    return [write(run, source) for source in run.sources]
