#!/usr/bin/env python3
"""Evolved electrons: p_e = n^gamma under compression, Joule heat of a decaying current; two time steps of each."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from larmor import Run, plot, verify

RUNS = [("sound", []), ("sound_half", ["run.dt=0.02", "output.fields_every=20"]),
        ("joule", [], "joule.ini"), ("joule_half", ["run.dt=0.25", "output.fields_every=2"], "joule.ini")]


class Sound:
    """Numbers of run.ini, and numbers that follow from them."""

    def __init__(self, run: Run) -> None:
        self.gamma, self.dt = run.number("electrons.gamma"), run.number("run.dt")
        kdx = run.number("const.k") * run.number("grid.lx") / run.number("grid.nx")
        self.omega = run.number("const.k") * math.sqrt(self.gamma * run.number("electrons.temperature"))
        # Of div u in the flow of s: an average to faces and back, a difference over a cell.
        self.missed = kdx**2 * (1 / 4 + 1 / 24)


class Joule:
    """Numbers of joule.ini, and numbers that follow from them."""

    def __init__(self, run: Run) -> None:
        self.dt, self.end = run.number("run.dt"), run.number("run.t_end")
        self.gamma, self.t0 = run.number("electrons.gamma"), run.number("electrons.temperature")
        self.k, self.eta = run.number("const.k"), run.number("fields.eta")
        self.field = run.number("const.field")
        cell = run.number("grid.lx") / run.number("grid.nx")
        on_grid = 2 / cell * math.sin(self.k * cell / 2)
        self.rate = 2 * self.eta * on_grid**2  # of the heat

    def profile(self, x: np.ndarray, t: float) -> np.ndarray:
        """T_e where eta J^2 has heated it, n = 1."""
        rate = 2 * self.eta * self.k**2
        heat = self.eta * (self.field * self.k * np.cos(self.k * x))**2 * -np.expm1(-rate * t) / rate
        return self.t0 + (self.gamma - 1) * heat


def mode(values: np.ndarray) -> float:
    """Amplitude of cos(k x), the shape of the density in a standing wave."""
    x = (np.arange(values.size) + 0.5) / values.size
    return 2 * float(np.mean(values * np.cos(2 * math.pi * x)))


def compression(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, the mode of T_e and that of n^(gamma - 1)."""
    rows, gamma = [], run.number("electrons.gamma")
    for fields in run.each_fields():
        n, p = fields["rho"].mean(axis=0), fields["p_e"].mean(axis=0)
        rows.append((fields.time, mode(p / n), mode(n**(gamma - 1))))
    return tuple(np.array(rows).T)


def sound_rows(directory: Path) -> list[verify.Row]:
    rows, kept = [], []
    for name in ("sound", "sound_half"):
        run = Run(directory / name)
        case = Sound(run)
        label = f"dt = {case.dt:g}"
        t, warm, adiabatic = compression(run)
        peak = int(np.argmax(np.abs(adiabatic)))
        kept.append((warm[peak], case.omega * case.dt))
        band = case.missed * case.gamma / (case.gamma - 1)  # relative error of s; T = s^gamma / n
        rows.append(verify.Row(f"sound, {label}: T_e over n^(gamma - 1), largest compression",
                               warm[peak] / adiabatic[peak], 1, band))
        drift = np.interp(t[peak], run.series["time"], run.series["energy_drift"])
        rows.append(verify.Row(f"sound, {label}: energy then", 1 + float(drift), 1,
                               case.missed + (case.omega * case.dt)**2))
        entropy = run.series["background_electrons_total"]
        rows.append(verify.Row(f"sound, {label}: largest entropy over the least", entropy.max() / entropy.min(), 1, case.missed))
        rows.append(verify.zero(f"sound, {label}: entropy not booked", np.ptp(run.series["background_electrons_residual"])))
    rows.append(verify.Row("sound: T_e of one step over that of the other", kept[0][0] / kept[1][0], 1, kept[0][1]**2))
    return rows


def joule_rows(directory: Path) -> list[verify.Row]:
    rows, errors = [], {}
    for name in ("joule", "joule_half"):
        run = Run(directory / name)
        series, case = run.series, Joule(run)
        dt = case.dt
        magnetic = series["magnetic_y"]
        gain = float(series["electron_thermal"][-1] - series["electron_thermal"][0])
        heat = float(magnetic[0]) * -math.expm1(-case.rate * case.end)
        second = (case.rate * dt)**2 / 12  # of the trapezium rule for exp(-r t)
        errors[name] = gain / heat - 1
        rows += [verify.Row(f"Joule, dt = {dt:g}: heat", gain, heat, 1.05 * second),
                 verify.Row(f"Joule, dt = {dt:g}: its error over (r dt)^2/12", errors[name] / second, 1, 0.05),
                 verify.Row(f"Joule, dt = {dt:g}: electron_heat", float(series["electron_heat"][-1]), gain, 1e-9)]
    rows.append(verify.Row("Joule: error of one step over that of half of it", errors["joule"] / errors["joule_half"],
                           4, 0.05))
    return rows


def picture(directory: Path) -> None:
    figure, (left, right) = plot.new_figure(10.5, 4.2, ncols=2)
    t, warm, adiabatic = compression(Run(directory / "sound"))
    left.plot(t, adiabatic, "--", color="k", lw=1.2, label=r"theory, of $n^{\gamma-1}$")
    left.plot(t, warm, "o", ms=4, label=r"of $T_e$, run")
    left.set(xlabel=r"$t\,\Omega_{ci}$", ylabel=r"amplitude of $\cos kx$  $[m_p v_A^2]$", title="Adiabatic compression")
    left.legend()
    joule = Run(directory / "joule")
    case = Joule(joule)
    for fields in joule.each_fields():
        if round(fields.time, 6) not in (0, 2, 5, 10):
            continue
        x = fields.x("p_e")
        right.plot(x, (fields["p_e"] / fields["rho"]).mean(axis=0), "o", ms=3,
                   label=f"$t\\,\\Omega_{{ci}} = {fields.time:g}$")
        right.plot(x, case.profile(x, fields.time), "--", color="k", lw=1)
    right.plot([], [], "--", color="k", lw=1, label="theory")
    right.set(xlabel="$x$  $[d_i]$", ylabel=r"$T_e$  $[m_p v_A^2]$", title="Joule heating")
    right.set_ylim(top=0.195)
    right.legend(ncols=2, loc="upper center")
    plot.save(figure, directory / "electron_heating.png")


def check(directory: Path) -> list[verify.Row]:
    picture(directory)
    return sound_rows(directory) + joule_rows(directory)


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
