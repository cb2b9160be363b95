#!/usr/bin/env python3
"""A moon in a flowing plasma: a cold beam's hits exactly, the wake of a warm wind against theory, the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, verify
from larmor import SurfaceMap

BEAM = ["fields.solver=none", "fields.bz=0", "fields.eta=0", "species.protons.temperature=0",
        "species.protons.particles_per_cell=32", "grid.nx=84", "grid.ny=96", "run.dt=0.025", "run.t_end=12",
        "output.fields_every=0"]
RUNS = [("beam", BEAM), ("wind", []), ("resistive", ["fields.eta=n < 0.06 ? thin : 0"])]
FULL = ["grid.nx=126", "grid.ny=144", "run.dt=0.015", "species.protons.particles_per_cell=128",
        "output.series_every=10", "output.fields_every=40"]
START = 20.0  # the steady window begins
MARGIN = 3.0  # d_i outside the cone, some gyroradii
BAND_RATE, BAND_QUIET, BAND_VOID = 0.015, 0.01, 0.05


class Case:
    """Numbers of run.ini, and numbers that follow from them."""

    def __init__(self, run: Run) -> None:
        self.wind, self.radius = run.number("species.protons.drift_x"), run.number("body.moon.radius")
        self.x, self.y = run.number("body.moon.x"), run.number("body.moon.y")
        self.length, self.height = run.number("grid.lx"), run.number("grid.ly")
        self.ions, self.electrons = run.number("species.protons.temperature"), run.number("electrons.temperature")
        self.eta = run.number("const.thin")  # of the void
        # v_A^2 + c_s^2 across B: ions have gamma = 2, isothermal electrons 1
        fast = np.sqrt(1 + 2 * self.ions + self.electrons)
        self.slope = fast / np.sqrt(self.wind**2 - fast**2)  # of the Mach cone's sides


class Void:
    """B in the void, and how the edges of the wake close, without gyroradii: x from the moon's centre to x_max.

    The flux that the wind would carry through the moon, U 2R a time, passes through the void, so that
    eta dB/dx = -U R/y there, y being half the width of the void; B is 1 at x_max. The wind turns towards the void in a
    simple wave (Prandtl and Meyer), in which B/n stays, until its pressure is that of B in the void."""

    def __init__(self, case: Case) -> None:
        self.case, self.x = case, np.linspace(0, case.length - case.x, 501)
        drop, step = case.wind / case.eta, self.x[1]
        self.open = 1 + drop * (self.x[-1] - self.x)  # what B would be if the edges did not close
        self.b = self.open
        for _ in range(60):  # until B and edges belong to each other
            slope = self.closing(self.b)
            self.y = case.radius - np.concatenate([[0], np.cumsum(0.5 * step * (slope[1:] + slope[:-1]))])
            fall = drop * case.radius / self.y
            rise = np.cumsum(0.5 * step * (fall[1:] + fall[:-1])[::-1])[::-1]
            self.b = 0.5 * (self.b + 1 + np.append(rise, 0))

    def closing(self, b: np.ndarray) -> np.ndarray:
        """-dy/dx of the edges beside a void with B = b."""
        a, warm = 0.5 + self.case.ions, self.case.electrons  # B^2/2 + T_i n^2 + T_e n is the pressure, n = B
        edge = (np.sqrt(warm**2 + 2 * a * b**2) - warm) / (2 * a)
        n = np.linspace(1, edge.min(), 1001)
        mach2 = (self.case.wind**2 + 2 * (2 * a * (1 - n) - warm * np.log(n))) / (2 * a * n + warm)
        turn = np.sqrt(mach2 - 1) / mach2 / n
        angle = np.concatenate([[0], np.cumsum(0.5 * (turn[1:] + turn[:-1]) * -np.diff(n))])
        return np.tan(np.interp(-edge, -n, angle))

    def least_width(self, x: float) -> float:
        """Half the width of the wake if B in the void were 1 throughout, the least that it is: edges close fastest."""
        return self.case.radius - float(self.closing(np.ones(1))[0]) * x


def thermal_rate(body: SurfaceMap, case: Case) -> float:
    """What hits the body a time, density 1, of a drifting Maxwellian that flies straight on: <|v| width(v)>, with the
    width of the polygon of its faces across each v."""
    half = 0.5 * body.length[:, None] * np.stack([-body.normal[:, 1], body.normal[:, 0]], axis=-1)
    middles = np.stack([body.x, body.y], axis=-1)
    corners = np.unique(np.round(np.concatenate([middles - half, middles + half]), 9), axis=0)
    v = np.linspace(-6, 6, 121) * np.sqrt(case.ions)
    weight = np.exp(-0.5 * (v[:, None]**2 + v**2) / case.ions).ravel()
    vx, vy = (a.ravel() for a in np.meshgrid(v + case.wind, v, indexing="ij"))
    across = np.outer(vx, corners[:, 1]) - np.outer(vy, corners[:, 0])  # |v| times the distance from the axis of v
    return float(np.average(across.max(axis=1) - across.min(axis=1), weights=weight))


def held_back(body: SurfaceMap, case: Case, b: float) -> float:
    """How much less hits the body a time because B rises from 1 to b in a thin layer before it. With the density of the
    wind, J x B/n takes (b^2 - 1)/2 of an ion's energy across the face. The velocity across a face is normally
    distributed."""
    v = np.linspace(0, np.sqrt(max(b**2 - 1, 0)), 401)
    mean = -case.wind * body.normal[:, :1]
    flow = v * np.exp(-0.5 * (v - mean)**2 / case.ions) / np.sqrt(2 * np.pi * case.ions)
    return float(body.length @ (0.5 * (flow[:, 1:] + flow[:, :-1]) * v[1]).sum(axis=1))


# ---------------------------------------------------------------- the cold beam


def beam_rows(run: Run) -> list[verify.Row]:
    """Numbers, momentum and energy of the hits, and where and how they hit."""
    maps, case = run.maps(run.map_steps[-1]), Case(run)
    body, wind = maps["body_moon"], case.wind
    hits, facing = body.hits["protons"], body.normal[:, 0] < 0
    of_face, total = hits.sum(axis=(1, 2)), hits.sum()
    account = {name: value[-1] for name, value in run.series.account("body_moon", "protons").items()}
    across = body.length[facing] * -body.normal[facing, 0]  # of each face, across the flow
    width, cells = across.sum(), case.radius / (case.height / run.number("grid.ny"))
    expected = width * wind * run.series["time"][-1] / body.weight["protons"]
    energy = np.searchsorted(maps.energy_edges, 0.5 * wind**2, side="right")
    rows = [
        verify.Row("beam: width of the polygon over 2 R", width / (2 * case.radius), 1, 0.25 / cells**2),
        verify.Row("beam: number on the moon", account["number"], expected, 3 / np.sqrt(expected)),
        verify.Row("beam: momentum a particle over m U", account["momentum"][0] / account["weight"] / wind, 1, 1e-12),
        verify.Row("beam: energy a particle over m U^2/2", account["energy"] / account["weight"] / (0.5 * wind**2), 1,
                   1e-12),
        verify.Row("beam: share of hits in the map", total / account["number"], 1, 1e-12),
        verify.Row("beam: share on faces against the flow", of_face[facing].sum() / total, 1, 1e-12),
        verify.Row("beam: share in the bin of m U^2/2", hits[:, :, energy].sum() / total, 1, 1e-12)]
    share = total * across / width
    noise = (of_face[facing] - share) / np.sqrt(np.maximum(share, 30))
    rows.append(verify.Row("beam: face that differs most, in sigma", noise[np.abs(noise).argmax()], 0, 4, absolute=True))
    polar = np.degrees(np.arctan2(np.abs(body.y - case.y), case.x - body.x))
    for angle in (30, 45, 60):
        sine, band = np.sin(np.radians(angle)), 2 * across.max() / width
        below = hits[:, maps.angle_edges[1:] < angle + 1].sum() / total
        rows += [verify.Row(f"beam: share within {angle} degrees of the nose", of_face[polar < angle].sum() / total, sine,
                            band, absolute=True),
                 verify.Row(f"beam: share of angles below {angle} degrees", below, sine, band, absolute=True)]
    return rows


# ---------------------------------------------------------------- the wind


class Steady:
    """A mesh, averaged over the steady window, and its places relative to the moon's centre."""

    def __init__(self, run: Run, name: str) -> None:
        frames, self.case = [], Case(run)
        for fields in run.each_fields():
            if fields.time >= START:
                frames.append(fields[name])
                self.x, self.y, self.end = fields.x(name) - self.case.x, fields.y(name) - self.case.y, fields.time
        self.values = np.mean(frames, axis=0)

    def mean(self, where: np.ndarray) -> float:
        return float(self.values[where].mean())

    @property
    def upstream(self) -> np.ndarray:
        return np.broadcast_to(self.x < -self.case.radius - 1, self.values.shape)

    @property
    def outside(self) -> np.ndarray:
        """Beyond the cone that starts where the body is widest, and what reaches over it."""
        edge = self.case.radius + MARGIN + self.case.slope * np.maximum(self.x, 0)
        return (np.abs(self.y)[:, None] > edge) & (self.x > -self.case.radius)

    @property
    def moon(self) -> np.ndarray:
        """What is well inside the moon."""
        return np.hypot(self.x, self.y[:, None]) < 0.8 * self.case.radius

    @property
    def void(self) -> np.ndarray:
        """The middle of the shadow, up to a radius behind the moon."""
        radius = self.case.radius
        return (np.abs(self.y)[:, None] < radius / 2) & (self.x > radius + 1) & (self.x < 2 * radius)

    def width(self, low: float, high: float) -> float:
        """Of what is below 1/2 at low < x < high."""
        columns = self.values[:, (self.x > low) & (self.x < high)]
        return float((columns < 0.5).sum(axis=0).mean() * (self.y[1] - self.y[0]))


def wind_rows(name: str, run: Run, n: Steady, b: Steady) -> list[verify.Row]:
    """The theory of B in the void is that of one that resists."""
    series, case, radius = run.series, n.case, n.case.radius
    late = series["time"] >= START
    time, hits = series["time"][late], series.account("body_moon", "protons")["weight"][late]
    rate = (hits[-1] - hits[0]) / (time[-1] - time[0])
    body = run.maps(run.map_steps[-1])["body_moon"]
    expected = thermal_rate(body, case) - held_back(body, case, b.mean(b.moon))
    count = series["body_moon_protons"][late]
    end, void = case.length - case.x, Void(case)
    near, far = n.width(radius + 1, 2 * radius), n.width(end - radius, end - 1)
    behind = (void.x > radius + 1) & (void.x < 2 * radius)
    theory, closed = void.b[behind].mean(), (void.b - void.open)[behind].mean()  # of it, what the closing makes
    least = void.least_width(end - (radius + 1) / 2) / void.least_width((3 * radius + 1) / 2)
    rows = [
        verify.Row(f"{name}: weight on the moon a time", rate, expected, BAND_RATE,
                   rate / np.sqrt(count[-1] - count[0])),
        verify.Row(f"{name}: density upstream", n.mean(n.upstream), 1, BAND_QUIET),
        verify.Row(f"{name}: B upstream", b.mean(b.upstream), 1, BAND_QUIET),
        verify.Row(f"{name}: density outside the Mach cone", n.mean(n.outside), 1, BAND_QUIET),
        verify.Row(f"{name}: B outside the Mach cone", b.mean(b.outside), 1, BAND_QUIET),
        verify.Row(f"{name}: density behind the moon", n.mean(n.void), 0, BAND_VOID, absolute=True),
        verify.Row(f"{name}: width of the wake near the moon over 2 R", near / (2 * radius), 1, 0.15),
        verify.Row(f"{name}: the same far off over near, {least:.2f} to 1", far / near, (1 + least) / 2, (1 - least) / 2,
                   absolute=True)]
    if name == "wind":
        highest = np.sqrt(1 + 2 * (case.ions + case.electrons))  # B that balances all pressure of the wind
        rows.append(verify.Row(f"{name}: B behind the moon, 1 to sqrt(1 + beta)", b.mean(b.void), (1 + highest) / 2,
                               (highest - 1) / 2, absolute=True))
    else:
        rows.append(verify.Row(f"{name}: B behind the moon", b.mean(b.void), theory, closed, absolute=True))
    return rows


def picture(n: Steady, b: Steady, output: Path) -> None:
    """Density and B, averaged over the window; the moon, its shadow and the Mach cone."""
    case = n.case
    figure, axes = plot.new_figure(7.4, 4.8, ncols=2, sharey=True)
    for ax, mesh, label, span, colours in ((axes[0], n, "$n$  $[n_0]$", (0, 1.2), "magma"),
                                           (axes[1], b, "$B_z$  $[B_0]$", (0.4, 1.6), "RdBu_r")):
        dx, dy = mesh.x[1] - mesh.x[0], mesh.y[1] - mesh.y[0]
        extent = (mesh.x[0] - dx / 2, mesh.x[-1] + dx / 2, mesh.y[0] - 1.5 * dy, mesh.y[-1] + dy / 2)
        image = ax.imshow(np.vstack([mesh.values[-1:], mesh.values]), extent=extent, origin="lower", cmap=colours,
                          vmin=span[0], vmax=span[1], interpolation="bilinear")  # y is periodic
        along = np.array([0, case.length - case.x])
        line = {"color": "white" if mesh is n else "black", "lw": 1.2}
        for side in (1, -1):
            ax.plot(along, side * (case.radius + case.slope * along), "--", **line, label="Mach cone" if side == 1 else None)
            ax.plot(along, side * np.full(2, case.radius), ":", **line, label="shadow" if side == 1 else None)
        ax.add_patch(plot.plt.Circle((0, 0), case.radius, fc="0.6", ec="black", zorder=3))
        ax.set(xlabel="$x$  $[d_i]$", xlim=(-case.x, case.length - case.x),
               ylim=(-case.height / 2, case.height / 2))
        ax.set_aspect("equal")
        figure.colorbar(image, ax=ax, label=label, pad=0.02, location="top", shrink=0.78,
                        extend="both" if mesh is b else "max")
    axes[0].set_ylabel("$y$  $[d_i]$")
    for ax in axes:
        ax.text(0, 0, "moon", ha="center", va="center", fontsize=10, zorder=4)
    axes[0].text(1.6 * case.radius, 0, "void", color="white", va="center", fontsize=10)
    axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    figure.suptitle(f"A moon in a wind, mean over $t\\,\\Omega_{{ci}}$ = {START:g} to {n.end:g}", fontsize=13)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    beam = Run(directory / "beam")
    rows = beam_rows(beam) + ledger.rows(beam, "beam")
    for name in ("wind", "resistive"):
        run = Run(directory / name)
        n, b = Steady(run, "rho"), Steady(run, "B/z")
        rows += wind_rows(name, run, n, b) + ledger.rows(run, name)
        if name == "wind":
            picture(n, b, directory / "moon.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
