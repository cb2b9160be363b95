#!/usr/bin/env python3
"""Ions born in a flowing plasma: their number, the ring of pick-up ions, what they gain and the wind loses, the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, verify

RUNS = [("given", ["fields.solver=none", "fields.ey=wind", "species.protons.particles_per_cell=1",
                   "output.fields_every=0"]),
        ("wind", []), ("loading", [], "loading.ini")]
WIND, MASS, X, Y, FAR, NEAR, STRENGTH = 3.0, 2.0, 10.0, 10.0, 15.0, 1.0, 0.06  # of run.ini
LENGTH, HEIGHT, CELL, DT, STEPS = 72.0, 36.0, 0.5, 0.05, 1000
GYRORADIUS = MASS * WIND
LOADING, TEMPERATURE, FLUX = 0.05, 0.35, 3.0  # of loading.ini: share of the mass flux, of the wind, n U
START, LOW, HIGH = 85.0, 87.0, 107.0          # its steady window, behind the cloud
BAND_SLOWING, BAND_ENERGY, BAND_MOMENTUM = 0.05, 0.05, 0.05


def haser(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Ions born a volume and time."""
    r2 = (x - X)**2 + (y - Y)**2
    return STRENGTH * np.exp(-np.sqrt(r2) / FAR) / (r2 + NEAR**2)


def grid(cell: float) -> tuple[np.ndarray, np.ndarray]:
    return np.meshgrid(np.arange(cell / 2, LENGTH, cell), np.arange(cell / 2, HEIGHT, cell))


# ---------------------------------------------------------------- production


def production_rows(run: Run, name: str) -> list[verify.Row]:
    """What was born against the integral of the profile; the error is that of rounding what is expected in each cell and
    step to whole particles, each by itself."""
    account = run.summary["species"][1]["ledger"]["injected"]["ionised"]
    weight = account["weight"] / account["number"]
    expected = haser(*grid(CELL)) * DT * CELL**2 / weight
    part = expected % 1
    error = np.sqrt(STEPS * (part * (1 - part)).sum())
    fine = CELL / 8
    integral = haser(*grid(fine)).sum() * fine**2 * DT * STEPS / weight
    return [verify.Row(f"{name}: ions born over the sum of the rate", account["number"] / (STEPS * expected.sum()), 1,
                       4 * error / (STEPS * expected.sum()), error / (STEPS * expected.sum())),
            verify.Row(f"{name}: that sum over the integral of the profile", STEPS * expected.sum() / integral, 1, 2e-3),
            verify.Row(f"{name}: momentum they were born with", float(np.abs(account["momentum"]).max()), 0, 0,
                       absolute=True)]


# ---------------------------------------------------------------- the ring and the cycloid


class Ions:
    """Pick-up ions at the end of a run."""

    def __init__(self, run: Run, mass: float) -> None:
        particles = run.particles(run.particle_steps[-1])
        self.v = np.stack([particles.get("pickup", f"momentum/{c}") / mass for c in "xyz"])
        self.x, self.y = (particles.get("pickup", f"position/{c}") for c in "xy")


def orbits() -> tuple[float, float]:
    """Of ions born since the start that are still there: their amount, and the mean of cos(2 pi y/height), as y is
    periodic; on cycloids in uniform fields."""
    x, y = grid(CELL)
    rate, amount, mean = haser(x, y) * CELL**2, 0.0, 0.0
    for age in (np.arange(STEPS) + 0.5) * DT:
        phase = age / MASS
        there = rate * (x + GYRORADIUS * (phase - np.sin(phase)) < LENGTH)
        amount += there.sum() * DT
        mean += (there * np.cos(2 * np.pi * (y + GYRORADIUS * (1 - np.cos(phase))) / HEIGHT)).sum() * DT
    return amount, mean / amount


def ring_rows(run: Run) -> list[verify.Row]:
    ions = Ions(run, MASS)
    speed = np.hypot(ions.v[0] - WIND, ions.v[1]) / WIND
    amount, mean = orbits()
    height = np.cos(2 * np.pi * ions.y / HEIGHT)
    weight = run.summary["species"][1]["ledger"]["injected"]["ionised"]
    weight = weight["weight"] / weight["number"]
    error, count = height.std() / np.sqrt(len(height)), amount / weight
    return [verify.Row("given: slowest of the ring, |v - U| over U", float(speed.min()), 1, 1e-9),
            verify.Row("given: fastest of the ring", float(speed.max()), 1, 1e-9),
            verify.Row("given: velocity along B", float(np.abs(ions.v[2]).max()), 0, 0, absolute=True),
            verify.Row("given: ions there, over those on cycloids", len(ions.x) / count, 1, 4 / np.sqrt(count),
                       1 / np.sqrt(count)),
            verify.Row("given: their mean of cos(2 pi y/ly)", float(height.mean()), mean, 4 * error, error,
                       absolute=True)]


# ---------------------------------------------------------------- the wind


def pressure_at_ends(run: Run) -> float:
    """B^2/2 + p_e on the side behind less that on the side before, times height and time."""
    times, force = [], []
    for fields in run.each_fields():
        stress = 0.5 * fields["B/z"]**2
        electrons = fields["p_e"]
        times.append(fields.time)
        force.append((stress[:, -1] - stress[:, 0] + electrons[:, -1] - electrons[:, 0]).mean() * HEIGHT)
    force, times = np.array(force), np.array(times)
    return float((0.5 * (force[1:] + force[:-1]) * np.diff(times)).sum())


def momentum_rows(run: Run) -> list[verify.Row]:
    """What the wind has lost the pick-up ions have gained, but for what presses on the ends: all from the ledger and
    the momentum of all ions."""
    series = run.series
    lost = {s: sum(series.account(f"leak_{side}", s)["momentum"][-1, 0] for side in ("x_min", "x_max"))
            for s in ("protons", "pickup")}
    came = series.account("injected_x_min", "protons")["momentum"][-1, 0]
    account = run.summary["species"][1]["ledger"]["injected"]["ionised"]
    there = MASS * Ions(run, MASS).v[0].sum() * account["weight"] / account["number"]
    gained = lost["pickup"] + there
    wind = came - lost["protons"] - (series["momentum_x"][-1] - there - series["momentum_x"][0])
    return [verify.Row("wind: momentum it lost over that of pick-up ions", (wind - pressure_at_ends(run)) / gained, 1,
                       BAND_MOMENTUM)]


# ---------------------------------------------------------------- mass loading


def loaded() -> dict[str, float]:
    """Behind the cloud: fluxes of mass, momentum and energy, the latter two of which those born at rest add nothing to;
    all pressure is across B (gamma = 2), and u B and n/B of the wind do not change."""
    pressure = TEMPERATURE + 0.5
    mass, momentum = FLUX * (1 + LOADING), FLUX**2 + pressure
    energy = 0.5 * FLUX**3 + 2 * pressure * FLUX
    u = (2 * momentum + np.sqrt(4 * momentum**2 - 6 * mass * energy)) / (3 * mass)
    wind = FLUX / u  # its density, and B
    born = momentum - mass * u - 0.5 * wind**2 - TEMPERATURE * wind**2
    return {"u": u, "n": mass / u, "B": wind, "energy": born / (LOADING * FLUX / u)}


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
    theory = loaded()
    (n, n_error), (b, b_error), (flux, flux_error) = (window(run, name) for name in ("rho", "B/z", "J_i/x"))
    ions = Ions(run, 1.0)
    behind = (ions.x > LOW) & (ions.x < HIGH)
    own = 0.5 * ((ions.v[0, behind] - flux / n)**2 + ions.v[1, behind]**2)
    slowing, u_error = FLUX - theory["u"], np.hypot(flux_error / n, flux * n_error / n**2)
    return [verify.Row("loading: the flow's loss of speed", FLUX - flux / n, slowing, BAND_SLOWING, u_error),
            verify.Row("loading: growth of the density", n - 1, theory["n"] - 1, BAND_SLOWING, n_error),
            verify.Row("loading: growth of B", b - 1, theory["B"] - 1, BAND_SLOWING, b_error),
            verify.Row("loading: growth of the flux", flux / FLUX - 1, LOADING, BAND_SLOWING, flux_error / FLUX),
            verify.Row("loading: energy of a pick-up ion in the flow", float(own.mean()), theory["energy"], BAND_ENERGY,
                       float(own.std() / np.sqrt(len(own))))]


# ---------------------------------------------------------------- the ledger


def ledger_rows(run: Run, name: str) -> list[verify.Row]:
    """In every row: loaded + injected + ionised - lost - present, of both species, and the residuals."""
    series, worst = run.series, 0.0
    for species in run.summary["species"]:
        s = species["name"]
        came = series[f"injected_x_min_{s}"] + (series[f"ionised_{s}"] if f"ionised_{s}" in series else 0)
        balance = species["ledger"]["loaded"] + came - series[f"present_{s}"]
        balance = balance - series[f"leak_x_min_{s}"] - series[f"leak_x_max_{s}"]
        worst = max(worst, np.abs(balance).max(), np.abs(series[f"ledger_residual_{s}"]).max())
    return [verify.Row(f"{name}: particles created or missed", float(worst), 0, 0, absolute=True)]


def picture(run: Run, output: Path) -> None:
    """Pick-up ions and B at the end, with the cycloid of those born at the nucleus."""
    fields = run.fields(run.field_steps[-1])
    figure, axes = plot.new_figure(7.4, 2.9, ncols=2, sharey=True)
    phase = np.linspace(0, 12, 400)
    for ax, name, label, colours in ((axes[0], "n_pickup", "$n$ of pick-up ions  $[n_0]$", "magma"),
                                     (axes[1], "B/z", "$B_z$  $[B_0]$", "RdBu_r")):
        span = {"vmin": 0.75, "vmax": 1.25} if name == "B/z" else {"vmin": 0}
        image = ax.pcolormesh(fields.x(name), fields.y(name), fields[name], cmap=colours, rasterized=True,
                              shading="nearest", **span)
        ax.plot(X + GYRORADIUS * (phase - np.sin(phase)), Y + GYRORADIUS * (1 - np.cos(phase)), "--", lw=1,
                color="white" if name != "B/z" else "black", label="cycloid at $U$")
        ax.plot(X, Y, "+", color="white" if name != "B/z" else "black")
        ax.set(xlabel="$x$  $[d_i]$", xlim=(0, LENGTH), ylim=(0, HEIGHT))
        ax.set_aspect("equal")
        figure.colorbar(image, ax=ax, label=label, pad=0.02, location="top")
    axes[0].set_ylabel("$y$  $[d_i]$")
    axes[1].legend(loc="lower right")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    given, wind, loading = (Run(directory / name) for name, *_ in RUNS)
    picture(wind, directory / "comet.png")
    return (production_rows(given, "given") + ring_rows(given) + production_rows(wind, "wind") + momentum_rows(wind) +
            loading_rows(loading) + ledger_rows(given, "given") + ledger_rows(wind, "wind") +
            ledger_rows(loading, "loading"))


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
