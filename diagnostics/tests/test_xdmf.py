"""XDMF files: their structure, and what VTK's reader makes of them where VTK is installed."""

import importlib.util
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree as xml

import h5py
import numpy as np
import synthetic
from larmor import xdmf
from larmor import Run, RunError


class Xdmf(unittest.TestCase):
    """4 x 6 values; B_x on x-faces, n at the centres; two steps."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.path = Path(self._folder.name)
        self.ramp = np.arange(24.0).reshape(4, 6)
        for step in (0, 10):
            synthetic.write_fields(self.path, step, 0.1 * step, {"B/x": self.ramp + step, "n_p": -self.ramp},
                                   spacing=(0.25, 0.5), position=(0.0, 0.0), offset=(0.125, 0.25))
            with h5py.File(self.path / "fields" / f"data_{step:08d}.h5", "a") as h5:
                h5[f"data/{step}/meshes/B/x"].attrs["position"] = (0.0, 0.5)
        synthetic.write_settings(self.path)

    def test_structure(self):
        file, = xdmf.write_all(Run(self.path))
        self.assertEqual(file, self.path / "fields.xdmf")
        series = xml.parse(file).getroot().find("Domain/Grid")
        self.assertEqual([time.get("Value") for time in series.iter("Time")], ["0", "1"])
        grids = series.findall("Grid/Grid")
        self.assertEqual(len(grids), 4)  # two places in two steps
        found = {grid.find("Attribute").get("Name"): grid for grid in grids[2:]}
        self.assertEqual([item.text for item in found["B_x"].findall("Geometry/DataItem")], ["0 0.125 0.5", "1 0.25 0.5"])
        self.assertEqual([item.text for item in found["n_p"].findall("Geometry/DataItem")], ["0 0.125 0.25", "1 0.25 0.5"])
        for grid in grids:
            self.assertEqual(grid.find("Topology").get("Dimensions"), "1 4 6")
            item = grid.find("Attribute/DataItem")
            name, path = item.text.split(":")
            with h5py.File(self.path / name) as h5:
                self.assertEqual(h5[path].shape, (4, 6))
                self.assertEqual(h5[path].dtype.itemsize, int(item.get("Precision")))

    def test_nothing_to_write(self):
        for file in (self.path / "fields").iterdir():
            file.unlink()
        with self.assertRaises(RunError):
            xdmf.write_all(Run(self.path))

    @unittest.skipUnless(importlib.util.find_spec("vtkmodules"), "VTK is not installed")
    def test_as_vtk_reads_it(self):
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
        reader = vtkXdmfReader()
        reader.SetFileName(str(xdmf.write(Run(self.path), "fields")))
        reader.UpdateInformation()
        reader.UpdateTimeStep(1.0)
        blocks = reader.GetOutputDataObject(0)
        images, todo = {}, [blocks]
        while todo:
            item = todo.pop()
            if item is not None and item.IsA("vtkMultiBlockDataSet"):
                todo += [item.GetBlock(k) for k in range(item.GetNumberOfBlocks())]
            elif item is not None:
                images[item.GetPointData().GetArrayName(0)] = item
        self.assertEqual(sorted(images), ["B_x", "n_p"])
        for name, x, values in (("B_x", 0.5, self.ramp + 10), ("n_p", 0.25, -self.ramp)):
            image = images[name]
            self.assertEqual(image.GetDimensions(), (6, 4, 1))
            np.testing.assert_allclose(image.GetOrigin()[:2], (x, 0.125))
            np.testing.assert_allclose(image.GetSpacing()[:2], (0.5, 0.25))
            np.testing.assert_array_equal(vtk_to_numpy(image.GetPointData().GetArray(0)).reshape(4, 6), values)


if __name__ == "__main__":
    unittest.main()
