#!/usr/bin/env python3
"""Ions born in a flowing plasma: their number, the ring of pick-up ions, their momentum and that of the wind, the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, ledger, plot, verify

RUNS = [("given", ["fields.solver=none", "fields.ey=wind", "species.protons.particles_per_cell=1",
                   "output.fields_every=0"]),
        ("wind", []), ("loading", [], "loading.ini")]
FULL = ["species.protons.particles_per_cell=208", "species.pickup.particles_per_cell=3200"]
START, LOW, HIGH = 85.0, 87.0, 107.0          # of loading: the steady window, behind the cloud
BAND_SLOWING, BAND_ENERGY, BAND_MOMENTUM = 0.05, 0.05, 0.05


class Comet:
    """Numbers of run.ini, and numbers that follow from them."""

    def __init__(self, run: Run) -> None:
        self.wind, self.mass = run.number("const.wind"), run.number("species.pickup.mass")
        self.gyroradius = self.mass * self.wind
        self.x, self.y = run.number("const.comet_x"), run.number("const.comet_y")
        self.far, self.near, self.strength = (run.number(f"const.{name}") for name in ("far", "near", "strength"))
        self.length, self.height = run.number("grid.lx"), run.number("grid.ly")
        self.cell = self.length / run.number("grid.nx")
        self.dt, self.steps = run.number("run.dt"), round(run.number("run.t_end") / run.number("run.dt"))

    def haser(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Ions born a volume and time."""
        r2 = (x - self.x)**2 + (y - self.y)**2
        return self.strength * np.exp(-np.sqrt(r2) / self.far) / (r2 + self.near**2)

    def grid(self, cell: float) -> tuple[np.ndarray, np.ndarray]:
        return np.meshgrid(np.arange(cell / 2, self.length, cell), np.arange(cell / 2, self.height, cell))

    def orbits(self) -> tuple[float, float]:
        """Of ions born since the start that are still there: their amount, and the mean of cos(2 pi y/height), as y is
        periodic; on cycloids in uniform fields."""
        x, y = self.grid(self.cell)
        rate, amount, mean = self.haser(x, y) * self.cell**2, 0.0, 0.0
        for age in (np.arange(self.steps) + 0.5) * self.dt:
            phase = age / self.mass
            there = rate * (x + self.gyroradius * (phase - np.sin(phase)) < self.length)
            amount += there.sum() * self.dt
            height = y + self.gyroradius * (1 - np.cos(phase))
            mean += (there * np.cos(2 * np.pi * height / self.height)).sum() * self.dt
        return amount, mean / amount


# ---------------------------------------------------------------- production


def production_rows(run: Run, name: str) -> list[verify.Row]:
    """What was born against the integral of the profile; the error is that of rounding what is expected in each cell and
    step to whole particles, each by itself."""
    account, weight = ledger.of(run, "pickup")["injected"]["ionised"], ledger.particle_weight(run, "pickup", "ionised")
    comet = Comet(run)
    steps, expected = comet.steps, comet.haser(*comet.grid(comet.cell)) * comet.dt * comet.cell**2 / weight
    part = expected % 1
    error = np.sqrt(steps * (part * (1 - part)).sum())
    fine = comet.cell / 8
    integral = comet.haser(*comet.grid(fine)).sum() * fine**2 * comet.dt * steps / weight
    return [verify.Row(f"{name}: ions born over the sum of the rate", account["number"] / (steps * expected.sum()), 1,
                       4 * error / (steps * expected.sum()), error / (steps * expected.sum())),
            verify.Row(f"{name}: that sum over the integral of the profile", steps * expected.sum() / integral, 1, 2e-3),
            verify.zero(f"{name}: momentum they were born with", np.abs(account["momentum"]).max())]


# ---------------------------------------------------------------- the ring and the cycloid


class Ions:
    """Pick-up ions at the end of a run."""

    def __init__(self, run: Run) -> None:
        particles, mass = run.particles(run.particle_steps[-1]), run.number("species.pickup.mass")
        self.v = np.stack([particles.get("pickup", f"momentum/{c}") / mass for c in "xyz"])
        self.x, self.y = (particles.get("pickup", f"position/{c}") for c in "xy")


def ring_rows(run: Run) -> list[verify.Row]:
    ions, comet = Ions(run), Comet(run)
    speed = np.hypot(ions.v[0] - comet.wind, ions.v[1]) / comet.wind
    amount, mean = comet.orbits()
    height = np.cos(2 * np.pi * ions.y / comet.height)
    error, count = height.std() / np.sqrt(len(height)), amount / ledger.particle_weight(run, "pickup", "ionised")
    return [verify.Row("given: slowest of the ring, |v - U| over U", float(speed.min()), 1, 1e-9),
            verify.Row("given: fastest of the ring", float(speed.max()), 1, 1e-9),
            verify.zero("given: velocity along B", np.abs(ions.v[2]).max()),
            verify.Row("given: ions there, over those on cycloids", len(ions.x) / count, 1, 4 / np.sqrt(count),
                       1 / np.sqrt(count)),
            verify.Row("given: their mean of cos(2 pi y/ly)", float(height.mean()), mean, 4 * error, error,
                       absolute=True)]


# ---------------------------------------------------------------- the wind


def pressure_at_ends(run: Run) -> float:
    """B^2/2 + p_e at x_max minus that at x_min, times height and time."""
    times, force, height = [], [], run.number("grid.ly")
    for fields in run.each_fields():
        stress = 0.5 * fields["B/z"]**2
        electrons = fields["p_e"]
        times.append(fields.time)
        force.append((stress[:, -1] - stress[:, 0] + electrons[:, -1] - electrons[:, 0]).mean() * height)
    force, times = np.array(force), np.array(times)
    return float((0.5 * (force[1:] + force[:-1]) * np.diff(times)).sum())


def momentum_rows(run: Run) -> list[verify.Row]:
    """What the wind has lost the pick-up ions have gained, but for what presses on the ends: all from the ledger and
    the momentum of all ions."""
    series = run.series
    lost = {s: sum(series.account(f"leak_{side}", s)["momentum"][-1, 0] for side in ("x_min", "x_max"))
            for s in ("protons", "pickup")}
    came = series.account("injected_x_min", "protons")["momentum"][-1, 0]
    mass, weight = run.number("species.pickup.mass"), ledger.particle_weight(run, "pickup", "ionised")
    there = mass * Ions(run).v[0].sum() * weight
    gained = lost["pickup"] + there
    wind = came - lost["protons"] - (series["momentum_x"][-1] - there - series["momentum_x"][0])
    return [verify.Row("wind: momentum it lost over that of pick-up ions", (wind - pressure_at_ends(run)) / gained, 1,
                       BAND_MOMENTUM)]


# ---------------------------------------------------------------- mass loading


def loaded(run: Run) -> dict[str, float]:
    """Behind the cloud: fluxes of mass, momentum and energy, the latter two of which those born at rest add nothing to;
    all pressure is across B (gamma = 2), and u B and n/B of the wind do not change."""
    flux, loading = run.number("const.wind"), run.number("const.loading")
    temperature = run.number("species.protons.temperature")
    pressure = temperature + 0.5
    mass, momentum = flux * (1 + loading), flux**2 + pressure
    energy = 0.5 * flux**3 + 2 * pressure * flux
    u = (2 * momentum + np.sqrt(4 * momentum**2 - 6 * mass * energy)) / (3 * mass)
    wind = flux / u  # its density, and B
    born = momentum - mass * u - 0.5 * wind**2 - temperature * wind**2
    return {"u": u, "n": mass / u, "B": wind, "energy": born / (loading * flux / u)}


def window(run: Run, name: str) -> tuple[float, float]:
    """Mean behind the cloud over the steady window, and its error from parts of it."""
    values = []
    for fields in run.each_fields():
        if fields.time >= START:
            x = fields.x(name)
            values.append(fields[name][:, (x > LOW) & (x < HIGH)].mean())
    parts = np.array([part.mean() for part in np.array_split(np.array(values), 5)])
    return float(np.mean(values)), float(parts.std(ddof=1) / np.sqrt(len(parts)))


def loading_rows(run: Run) -> list[verify.Row]:
    theory, came, loading = loaded(run), run.number("const.wind"), run.number("const.loading")
    (n, n_error), (b, b_error), (flux, flux_error) = (window(run, name) for name in ("rho", "B/z", "J_i/x"))
    ions = Ions(run)
    behind = (ions.x > LOW) & (ions.x < HIGH)
    own = 0.5 * ((ions.v[0, behind] - flux / n)**2 + ions.v[1, behind]**2)
    slowing, u_error = came - theory["u"], np.hypot(flux_error / n, flux * n_error / n**2)
    return [verify.Row("loading: the flow's loss of speed", came - flux / n, slowing, BAND_SLOWING, u_error),
            verify.Row("loading: growth of the density", n - 1, theory["n"] - 1, BAND_SLOWING, n_error),
            verify.Row("loading: growth of B", b - 1, theory["B"] - 1, BAND_SLOWING, b_error),
            verify.Row("loading: growth of the flux", flux / came - 1, loading, BAND_SLOWING, flux_error / came),
            verify.Row("loading: energy of a pick-up ion in the flow", float(own.mean()), theory["energy"], BAND_ENERGY,
                       float(own.std() / np.sqrt(len(own))))]


# ---------------------------------------------------------------- picture


def picture(run: Run, output: Path) -> None:
    """Pick-up ions and B at the end, with the cycloid of those born at the nucleus."""
    fields, comet = run.fields(run.field_steps[-1]), Comet(run)
    figure, axes = plot.new_figure(7.8, 3.7, ncols=2, sharey=True)
    phase = np.linspace(0, 12, 400)
    for ax, name, label, colours in ((axes[0], "n_pickup", "$n$ of pick-up ions  $[n_0]$", "magma"),
                                     (axes[1], "B/z", "$B_z$  $[B_0]$", "RdBu_r")):
        line = "white" if name != "B/z" else "black"
        span = {"vmin": 0.75, "vmax": 1.25} if name == "B/z" else {"vmin": 0, "vmax": 0.12}
        x, y, values = fields.x(name), fields.y(name), fields[name]
        dx, dy = x[1] - x[0], y[1] - y[0]
        extent = (x[0] - dx / 2, x[-1] + dx / 2, y[0] - 1.5 * dy, y[-1] + dy / 2)
        image = ax.imshow(np.vstack([values[-1:], values]), extent=extent, origin="lower", cmap=colours,
                          interpolation="bilinear", **span)  # y is periodic
        ax.plot(comet.x + comet.gyroradius * (phase - np.sin(phase)),
                comet.y + comet.gyroradius * (1 - np.cos(phase)), "--", lw=1, color=line, label="cycloid at $U$")
        ax.plot(comet.x, comet.y, "+", ms=10, color=line, label="nucleus")
        ax.set(xlabel="$x$  $[d_i]$", xlim=(0, comet.length), ylim=(0, comet.height))
        ax.set_aspect("equal")
        bar = figure.colorbar(image, ax=ax, label=label, pad=0.02, location="top",
                              extend="max" if name != "B/z" else "both")
        bar.locator = plot.matplotlib.ticker.MaxNLocator(5)
    axes[0].set_ylabel("$y$  $[d_i]$")
    figure.suptitle(f"A weak comet in a wind along $x$, $t\\,\\Omega_{{ci}} = {fields.time:g}$", fontsize=13)
    axes[1].legend(loc="upper right", bbox_to_anchor=(1.02, -0.1), ncols=1, borderaxespad=0)
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    given, wind, loading = (Run(directory / name) for name, *_ in RUNS)
    picture(wind, directory / "comet.png")
    return (production_rows(given, "given") + ring_rows(given) + production_rows(wind, "wind") + momentum_rows(wind) +
            loading_rows(loading) + ledger.rows(given, "given") + ledger.rows(wind, "wind") +
            ledger.rows(loading, "loading"))


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
