#!/usr/bin/env python3
"""Tests of other hybrid codes. A band is the peer's own tolerance where it has one; the README says which."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from beside_peers import bernstein
from larmor import Run, plot, spectrum, theory, verify

SEEDS = (1, 2, 3)
RATIOS = (0.2, 0.3)             # T_i/T_e of plain Maxwellians; 0.1 is loaded as in the lesson on Landau damping
THERMAL = (0.1, 1)              # thermal speeds of the uniform plasma
PLANES = {"out of the plane": [], "in the plane": ["fields.bz=0", "fields.bx=1"]}
RUNS = [
    ("em_modes", [], "em_modes.ini"), ("bernstein", [], "bernstein.ini"),
    *((f"ion_beam_{seed}", [f"run.seed={seed}"], "ion_beam.ini") for seed in SEEDS),
    *((f"landau_{ratio}", [f"const.ratio={ratio}"], "landau.ini") for ratio in RATIOS),
    ("landau_0.1", ["electrons.temperature=10"], "../landau/run.ini"),
    ("alfven", [], "alfven.ini"), ("alfven_unsmoothed", ["fields.smoothing=0"], "alfven.ini"),
    ("dispersion", [], "dispersion.ini"),
    *((f"phare_beam_{seed}", [f"run.seed={seed}"], "phare_beam.ini") for seed in SEEDS),
    *((f"conservation_{speed}", [f"const.thermal={speed}"], "conservation.ini") for speed in THERMAL),
    *((f"thermal_box_{i}", overrides, "thermal_box.ini") for i, overrides in enumerate(PLANES.values())),
    ("flow", [], "flow.ini"), ("reconnection", [], "reconnection.ini"),
]

# What the peers assert.
PHARE_SPEED = 0.05              # |v - 1|, alfven_wave1d.py
PHARE_GROWTH = (0.09, 0.02)     # |gamma - 0.09|, ion_ion_beam1d.py
RHYBRID_FLOW = 1000**-0.5       # 1/sqrt(particles of a cell), run_tests.py
# The energy of the thermal box by WarpX 24.10, its defaults, over the kinetic energy; see tests/physics/energy.py.
WARPX_ENERGY = {"out of the plane": 0.22e-2, "in the plane": 0.053e-2}
# Munoz et al. (2018), figs. 12a and 14b, as read by WarpX.
MUNOZ_GROWTH = {4: 0.1915611861780133, 5: 0.20087036355662818, 6: 0.17123024228396777}

# Where a peer asserts nothing: what the other lessons of this course ask for. The lesson on waves has 1 % up to
# k dx = 0.157, and the error of a grid rises with the square of k dx.
RESOLVED = 0.157
WAVES, GROWTH, DAMPING, ENERGY = 0.01, 0.10, 0.10, 0.4e-2
BERNSTEIN = 0.02
HALL = 0.25                     # of the Hall term, with cells of 1 d_i: (dx/d_i)^2/4
WINDOW = (10, 28)               # of the growth of the beam of WarpX, as in the lesson on the ion beam
RECONNECTION = (0.1, 2.0)       # the rate (Cassak et al. 2017), within a factor


# ---------------------------------------------------------------- waves in noise


def noise_waves(run: Run, label: str, bands: dict[str, list[tuple[float, float]]]) -> Iterator[verify.Row]:
    """Fitted over expected frequency of each branch, mean over the modes of a range of k."""
    data = spectrum.transverse(run)
    beta, eta = run.number("const.beta"), run.number("fields.eta")
    for branch, ranges in bands.items():
        for low, high in ranges:
            ratios = [found / expected_wave(k, branch, beta, eta)
                      for m, k in modes(data.length, low, high) for found in both_directions(data, m, branch)]
            mean = spectrum.mean_estimate(ratios)
            band = WAVES * max(1.0, high * data.length / len(data.x) / RESOLVED) ** 2
            yield verify.Row(f"{label}: {branch}, k = {low:g} to {high:g}, omega over theory", mean.value, 1.0, band,
                             mean.error)


def modes(length: float, low: float, high: float) -> Iterator[tuple[int, float]]:
    for m in range(int(np.ceil(low * length / (2 * np.pi))), int(high * length / (2 * np.pi)) + 1):
        yield m, 2 * np.pi * m / length


def both_directions(data: spectrum.Transverse, m: int, branch: str) -> Iterator[float]:
    """|omega| of a branch in the modes m and -m: waves along -x and along +x."""
    for number in (m, -m):
        z = spectrum.mode(data.b, number)
        guesses = [spectrum.peak_frequency(data.t, z, sign) for sign in (1, -1)]
        left, right = (abs(omega.real) for omega, _ in spectrum.fit_tones(data.t, z, guesses, damped=True))
        yield {"L": left, "R": right}[branch]


def expected_wave(k: float, branch: str, beta: float, eta: float) -> float:
    """Of warm ions, with the small shift by resistivity of cold ones."""
    cold = theory.cold_parallel(k, branch)
    shift = complex(theory.cold_parallel(k, branch, eta)).real - float(cold)
    return theory.parallel_root(k, branch, theory.warm(beta), complex(cold) - 1e-3j).real + shift


def bernstein_waves(run: Run) -> Iterator[verify.Row]:
    """The strongest frequency of E_x between two harmonics over theory, mean over modes."""
    t, e = run.history("E/x", lambda values: values.mean(axis=0))
    temperature, length = run.number("const.beta") / 2, run.number("grid.lx")
    gamma_te = run.number("electrons.gamma") * run.number("electrons.temperature")
    for harmonic in (1, 2, 3):
        ratios = []
        for m, k in modes(length, *(value / np.sqrt(temperature) for value in (1.1, 2.0))):
            expected = bernstein.roots(k, temperature, gamma_te, harmonic)
            if len(expected) == 1:
                ratios.append(strongest(t, spectrum.mode(e, m), harmonic) / expected[0])
        mean = spectrum.mean_estimate(ratios)
        label = f"WarpX em_modes: Bernstein {harmonic}, k rho = 1.1 to 2, omega over theory"
        yield verify.Row(label, mean.value, 1.0, BERNSTEIN, mean.error)


def strongest(t: np.ndarray, z: np.ndarray, harmonic: int) -> float:
    """The frequency with most power in harmonic + 0.1 to harmonic + 0.95, both directions together."""
    n, padding = len(t), 8
    power = np.abs(np.fft.fft(z * np.hanning(n + 1)[:n], padding * n)) ** 2
    power = power + power[-np.arange(padding * n) % (padding * n)]
    omega = 2 * np.pi * np.fft.fftfreq(padding * n, t[1] - t[0])
    return float(omega[np.argmax(np.where((omega > harmonic + 0.1) & (omega < harmonic + 0.95), power, 0.0))])


def phase_speed(run: Run) -> tuple[spectrum.Estimate, float]:
    """Of the wave of the length of the box, as measured and as expected."""
    data = spectrum.transverse(run)
    k = 2 * np.pi / data.length
    (omega, error), _ = spectrum.fit_tones(data.t, spectrum.mode(data.b, 1), [-k, k])
    return spectrum.Estimate(-omega.real / k, error.real / k), float(theory.cold_parallel(k, "R")) / k


def alfven(smoothed: Run, unsmoothed: Run) -> Iterator[verify.Row]:
    """The phase speed, and what the Hall term adds to it."""
    found, speed = phase_speed(smoothed)
    yield verify.Row("PHARE alfven_wave: phase speed", found.value, speed, PHARE_SPEED, found.error)
    found, speed = phase_speed(unsmoothed)
    label = "PHARE alfven_wave, without smoothing: (v - 1) over theory"
    yield verify.Row(label, (found.value - 1) / (speed - 1), 1, HALL, found.error / (speed - 1))


# ---------------------------------------------------------------- beams and damping


def warpx_beam(runs: list[Run]) -> Iterator[verify.Row]:
    """Growth rates of the modes that WarpX looks at."""
    data = [spectrum.transverse(run) for run in runs]
    ions = theory.beam(density=runs[0].number("const.beam"), speed=runs[0].number("const.speed"),
                       temperature=runs[0].number("const.beta") / 2)
    for m, published in MUNOZ_GROWTH.items():
        mean = growth_of_power(data[0].t, [np.abs(spectrum.mode(one.b, -m)) for one in data])
        k = 2 * np.pi * m / data[0].length
        expected = theory.parallel_root(k, "R", ions, 0.2 + 0.2j).imag
        for source, value in (("our theory", expected), ("Munoz et al.", published)):
            yield verify.Row(f"WarpX ion_beam: mode {m}, gamma against {source}", mean.value, value, GROWTH, mean.error)


def growth_of_power(t: np.ndarray, amplitudes: list[np.ndarray]) -> spectrum.Estimate:
    """The growth rate of the power of all seeds together, and its jackknife error.

    A seed whose mode begins almost at zero, and is then driven by other modes, counts little.
    """
    def rate(chosen: list[np.ndarray]) -> float:
        return spectrum.fit_rate(t, np.sqrt(np.mean(np.square(chosen), axis=0)), WINDOW).value
    left_out = [rate(amplitudes[:i] + amplitudes[i + 1:]) for i in range(len(amplitudes))]
    return spectrum.Estimate(rate(amplitudes), float(np.std(left_out) * np.sqrt(len(amplitudes) - 1)))


def first_peak(t: np.ndarray, a: np.ndarray, width: float = 10.0) -> int:
    """The first maximum that nothing exceeds within a width, or the largest value."""
    for i in range(1, len(a) - 1):
        if a[i] == a[np.abs(t - t[i]) <= width].max():
            return i
    return int(np.argmax(a))


def exponential(t: np.ndarray, a: np.ndarray) -> float:
    """b of the least-squares fit a = A exp(b t), as PHARE makes it: the late times weigh most."""
    rates = np.linspace(0, 0.3, 3001)
    shapes = np.exp(np.outer(rates, t - t[-1]))
    residuals = (a @ a) - (shapes @ a) ** 2 / (shapes**2).sum(axis=1)
    return float(rates[np.argmin(residuals)])


def phare_beam(runs: list[Run]) -> Iterator[verify.Row]:
    """By PHARE's procedure against its number; and by the slope of the logarithm against linear theory."""
    theirs, slopes = [], []
    for run in runs:
        data = spectrum.transverse(run)
        a = np.abs(spectrum.mode(data.b, -1))
        top = first_peak(data.t, a)
        before = data.t < data.t[top] - 10
        if before.sum() < 3:
            raise ValueError(f"{run.directory}: the mode does not grow")
        theirs.append(exponential(data.t[before], a[before]))
        rise = [data.t[np.argmax(a > share * a[top])] for share in (1 / 15, 1 / 3)]
        slopes.append(spectrum.fit_rate(data.t, a, tuple(rise)).value)
    value, tolerance = PHARE_GROWTH
    mean = spectrum.mean_estimate(theirs)
    yield verify.Row("PHARE ionIonBeam: gamma by its procedure", mean.value, value, tolerance, mean.error, True)
    first = runs[0]
    temperature = first.number("species.core.temperature")
    ions = [theory.Ions(1, 0, temperature),
            theory.Ions(first.number("const.beam"), first.number("const.speed"), temperature)]
    expected = theory.parallel_root(2 * np.pi / first.number("grid.lx"), "R", ions, 0.15 + 0.1j).imag
    mean = spectrum.mean_estimate(slopes)
    yield verify.Row("PHARE ionIonBeam: gamma by the logarithm", mean.value, expected, GROWTH, mean.error)


def damping(run: Run, m: int, label: str) -> Iterator[verify.Row]:
    """Fitted for 3 <= t k v_ti <= 8, as in the lesson on Landau damping. WarpX draws its line until 8."""
    t, rows = run.history("E/x", lambda e: e.mean(axis=0))
    z = spectrum.mode(rows, m)
    a = (z * np.exp(-1j * np.angle(z[np.argmax(np.abs(z))]))).real
    t = t * 2 * np.pi * m / run.number("grid.lx")     # the thermal speed and the temperature of the ions are 1
    inside = spectrum.in_window(t, (3, 8))
    expected = theory.ion_acoustic(run.number("electrons.temperature"))
    found, error = spectrum.fit_oscillation(t[inside], a[inside], expected * 0.9)
    yield verify.Row(f"{label}: gamma", found.imag, expected.imag, DAMPING, error.imag)


# ---------------------------------------------------------------- energy, flow, reconnection


def conservation(run: Run, speed: float) -> Iterator[verify.Row]:
    """PHARE plots the change of the kinetic energy from t = 3 to 4 until the end, in percent."""
    kinetic = sum(run.series[f"kinetic_{axis}_ions"] for axis in "xyz")
    t, total = run.series["time"], run.series["energy_total"]
    start = kinetic[(t >= 3) & (t <= 4)].mean()
    label = f"PHARE conservation, thermal speed {speed:g}: change of"
    yield verify.zero(f"{label} the kinetic energy over itself", (kinetic[-1] - start) / start, ENERGY)
    yield verify.zero(f"{label} the total energy over the kinetic", (total[-1] - total[0]) / kinetic[0], ENERGY)


def thermal_box(run: Run, plane: str) -> verify.Row:
    kinetic = sum(run.series[f"kinetic_{axis}_ions"][0] for axis in "xyz")
    total = run.series["energy_total"]
    label = f"thermal box, B {plane}: change of the energy over the kinetic"
    return verify.zero(label, (total[-1] - total[0]) / kinetic, WARPX_ENERGY[plane])


def flow(run: Run) -> Iterator[verify.Row]:
    """Means over the cells that are not near the sides, in the last output but one, as RHybrid's test takes them."""
    data = run.output("moments", run.outputs["moments"][-2])
    inner = (slice(None), slice(4, -4))
    density = data["n_ions"][inner]
    temperature = sum(data[f"P_ions/{name}"] for name in ("xx", "yy", "zz"))[inner] / 3 / density
    rows = [("density", density, 1.0), ("speed", data["u_ions/x"][inner], run.number("const.speed")),
            ("temperature", temperature, run.number("const.hot"))]
    for label, values, expected in rows:
        yield verify.Row(f"RHybrid empty box: {label}", float(values.mean()), expected, RHYBRID_FLOW)


def reconnection_rate(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The mean of |E_z| in the square of 2 d_i around the X point, which is the rate that WarpX plots."""
    times, rates = [], []
    for fields in run.each_fields():
        x, y = fields.x("E/z"), fields.y("E/z")
        near = np.ix_(np.abs(y - run.number("grid.ly") / 2) <= 1, np.abs(x - run.number("grid.lx") / 2) <= 1)
        times.append(fields.time)
        rates.append(abs(fields["E/z"][near].mean()))
    return np.array(times), np.array(rates)


def reconnection(run: Run) -> verify.Row:
    t, rate = reconnection_rate(run)
    smooth = np.convolve(rate, np.full(5, 0.2), mode="valid")
    expected, factor = RECONNECTION
    found = float(np.log2(smooth.max() / expected))
    label = "WarpX magnetic_reconnection: log2 of the largest rate over 0.1"
    return verify.Row(label, found, 0.0, float(np.log2(factor)), absolute=True)


# ---------------------------------------------------------------- the check


def picture(rows: list[verify.Row], output: Path) -> None:
    """Each deviation over its band."""
    figure, axes = plot.new_figure(width=9.5, height=0.2 * len(rows) + 1.2)
    for i, row in enumerate(reversed(rows)):
        share = row.deviation / row.band
        share = float(np.clip(share, -1.45, 1.45))
        axes.plot([0, share], [i, i], color="0.7", lw=1)
        axes.plot(share, i, "o", ms=5, color="C0" if row.passed else "C3")
    axes.set_yticks(range(len(rows)), [row.label for row in reversed(rows)], fontsize=7)
    axes.axvspan(-1, 1, color="0.94", zorder=0)
    axes.axvline(0, color="k", lw=0.8)
    axes.set(xlabel="deviation over the band", xlim=(-1.5, 1.5), ylim=(-0.7, len(rows) - 0.3),
             title="Tests of other hybrid codes, run with Larmor")
    plot.save(figure, output)


def check(directory: Path) -> list[verify.Row]:
    def run(name: str) -> Run:
        return Run(directory / name)
    ranges = [(0.3, 0.5), (0.5, 0.8), (0.8, 1.2)]
    rows = [*noise_waves(run("em_modes"), "WarpX em_modes", {"R": ranges, "L": ranges[:2]})]  # README.md says why
    rows += bernstein_waves(run("bernstein"))
    rows += warpx_beam([run(f"ion_beam_{seed}") for seed in SEEDS])
    rows += damping(run("landau_0.1"), 1, "WarpX ion_Landau_damping, T_i/T_e = 0.1")
    for ratio in RATIOS:
        rows += damping(run(f"landau_{ratio}"), 4, f"WarpX ion_Landau_damping, T_i/T_e = {ratio:g}")
    rows.append(reconnection(run("reconnection")))
    rows += (thermal_box(run(f"thermal_box_{i}"), plane) for i, plane in enumerate(PLANES))
    rows += alfven(run("alfven"), run("alfven_unsmoothed"))
    rows += noise_waves(run("dispersion"), "PHARE dispersion", {"R": ranges, "L": ranges})
    rows += phare_beam([run(f"phare_beam_{seed}") for seed in SEEDS])
    for speed in THERMAL:
        rows += conservation(run(f"conservation_{speed}"), speed)
    rows += flow(run("flow"))
    picture(rows, directory / "peers.png")
    return rows


if __name__ == "__main__":
    sys.exit(verify.main(check, __doc__))
