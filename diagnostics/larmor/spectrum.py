"""Spectra of field outputs, frequencies of modes, growth rates.

Handedness: with B0 along +x and b = B_y + i B_z ~ exp(i (k x - omega t)), a wave with omega > 0 turns as ions do (L)
and one with omega < 0 as electrons do (R), whatever the sign of k; it runs along +x where omega/k > 0 and along -x
where omega/k < 0. One transform of b in x and t therefore separates all four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import RunError
from .run import Run
from .theory import ColdPlasma


@dataclass(frozen=True)
class Estimate:
    """A fitted number and its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Transverse:
    """b = B_y + i B_z, mean over y, at times t [1/Omega_ci] and places x [d_i]: b[t, x]."""

    t: np.ndarray
    x: np.ndarray
    b: np.ndarray

    @property
    def length(self) -> float:
        """The periodic length of the box [d_i]."""
        return (self.x[1] - self.x[0]) * len(self.x)


def transverse(run: Run) -> Transverse:
    """b of every field output of a run."""
    times, rows, x = [], [], None
    for fields in run.each_fields():
        rows.append(fields["B/y"].mean(axis=0) + 1j * fields["B/z"].mean(axis=0))
        times.append(fields.time)
        x = fields.x("B/y") if x is None else x
    if len(rows) < 2:
        raise ValueError(f"{run.directory}: a spectrum needs two field outputs or more ([output] fields_every)")
    return Transverse(np.array(times), x, np.array(rows))


def response(run: Run, twin: Run, mesh: str) -> tuple[np.ndarray, np.ndarray]:
    """Times, and half the difference of a mesh, mean over y, between a run and its twin, which has the same ions and a seeded
    wave of the other sign. The noise of the ions is in both runs, so the wave alone is left, also below the noise."""
    (t, values), (_, others) = (one.history(mesh, lambda a: a.mean(axis=0)) for one in (run, twin))
    return t, (values - others) / 2


def transverse_response(run: Run, twin: Run) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the response of b = B_y + i B_z."""
    (t, by), (_, bz) = (response(run, twin, mesh) for mesh in ("B/y", "B/z"))
    return t, by + 1j * bz


def cold_plasma(run: Run) -> ColdPlasma:
    """The plasma of a run at its first output, for the theory of cold waves along x. Raises RunError, which says why, where
    that theory does not apply: B0 must be along x and uniform, all ions of one kind, and at rest along x."""
    if not (run.directory / "run.ini").exists():
        raise RunError("there is no run.ini")
    ratios = {run.number(f"species.{name}.charge") / run.number(f"species.{name}.mass") for name in run.species}
    if len(ratios) != 1:
        raise RunError("the ions are of several kinds" if ratios else "there are no ions")
    ratio = ratios.pop()
    with run.fields(run.field_steps[0]) as first:
        along, *across = (float(first[f"B/{axis}"].mean()) for axis in "xyz")
        if "rho" not in first.names or "J_i/x" not in first.names:
            raise RunError("the density of the ions is not there")
        charge, current = float(first["rho"].mean()), float(first["J_i/x"].mean())
        varies = float(first["B/x"].std())
    if np.hypot(*across) > 0.01 * abs(along) or along == 0:
        raise RunError("$\\mathbf{B}_0$ is not along $x$")
    if varies > 0.1 * abs(along):
        raise RunError("$B_x$ is not uniform")
    if not charge > 0 or not ratio > 0:
        raise RunError("there are no ions with charge")
    plasma = ColdPlasma(ratio * along, (ratio * charge) ** -0.5)
    if abs(current / charge) > 0.05 * abs(plasma.gyration) * plasma.length:
        raise RunError("the ions flow along $x$")
    return plasma


# ---------------------------------------------------------------- transforms


def omega_k(b: np.ndarray, dt: float, dx: float, window: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """omega, k (both increasing) and power[omega, k] of b[t, x] ~ exp(i (k x - omega t)); Hann window in t by default.

    The power of a wave of amplitude A that fits the box is |A|^2 in its bin.
    """
    nt, nx = b.shape
    weights = np.hanning(nt + 1)[:nt] if window else np.ones(nt)
    amplitude = np.fft.fft(b * weights[:, None], axis=1) / nx
    amplitude = np.fft.ifft(amplitude, axis=0) * nt / weights.sum()  # exp(+i omega t)
    omega = 2 * np.pi * np.fft.fftfreq(nt, dt)
    k = 2 * np.pi * np.fft.fftfreq(nx, dx)
    return np.fft.fftshift(omega), np.fft.fftshift(k), np.fft.fftshift(np.abs(amplitude) ** 2)


def power_over_k(values: np.ndarray, spacing: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The power of a periodic field [ny, nx] over |k|, in shells as wide as the smallest wave number: k in the middle of
    each shell, and the power over the width of a shell. Its sum times the width is the mean square about the mean.
    `spacing`: dx, dy."""
    power = np.abs(np.fft.fft2(values - values.mean()) / values.size)**2
    ky, kx = (2 * np.pi * np.fft.fftfreq(n, d) for n, d in zip(values.shape, reversed(spacing)))
    k = np.hypot(kx[np.newaxis, :], ky[:, np.newaxis])
    width = min(2 * np.pi / (n * d) for n, d in zip(values.shape, reversed(spacing)) if n > 1)
    shell = np.rint(k / width).astype(int).ravel()
    density = np.bincount(shell, weights=power.ravel()) / width
    return width * np.arange(1, len(density)), density[1:]


def mode(b: np.ndarray, m: int) -> np.ndarray:
    """Amplitude in time of exp(2 pi i m x/L) in b[t, x]; m < 0 turns the other way."""
    return np.fft.fft(b, axis=1)[:, m] / b.shape[1]


def meshes_of(run: Run, record: str, source: str | None = None) -> tuple[list[str], str, list[int]]:
    """The meshes of a record: its components, or itself. Also the source that has them, and its steps."""
    try:
        return [f"{record}/{axis}" for axis in "xyz"], *run.source_of(f"{record}/x", source)
    except RunError:
        return [record], *run.source_of(record, source)


@dataclass(frozen=True)
class Modes:
    """Amplitudes of the waves of a record with `x` (0 and more) and `y` periods in the box, at times t: amplitude[t, y, x], that of
    A cos(k r) being A, and the root of the sum of squares over components. `k0`: the wave numbers of one period [1/d_i], x and y."""

    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    amplitude: np.ndarray
    k0: tuple[float, float]

    def of(self, x: int, y: int) -> np.ndarray:
        """The amplitude in time; the same wave has (-x, -y) periods."""
        x, y = (x, y) if (x, y) >= (0, 0) else (-x, -y)
        if x not in self.x or y not in self.y or (x, y) == (0, 0):
            raise ValueError(f"no wave of {x} and {y} periods; there are up to {self.x[-1]} along x and {self.y.max()} along y")
        return self.amplitude[:, list(self.y).index(y), x]

    def grown(self, count: int) -> list[tuple[int, int]]:
        """The periods of the waves that have gained most since the first time, the largest first: those that have gained at least a
        fifth of what the first one has."""
        gain = self.amplitude.max(axis=0) - self.amplitude[0]
        gain[:, 0][self.y <= 0] = 0  # as many as (0, -y); and the mean
        order = np.argsort(gain, axis=None)[::-1][:count]
        rows, columns = np.unravel_index(order, gain.shape)
        return [(int(self.x[i]), int(self.y[j])) for j, i in zip(rows, columns) if gain[j, i] > 0.2 * gain.max()]


def modes(run: Run, record: str, source: str | None = None, most: int = 64) -> Modes:
    """All waves of up to `most` periods along an axis."""
    meshes, source, steps = meshes_of(run, record, source)
    if len(steps) < 3:
        raise ValueError(f"{run.directory}: growth needs three outputs of {record} or more, and there are {len(steps)}")
    times, found = [], []
    for step in steps:
        with run.frame(source, step) as frame:
            values = np.stack([frame[name] for name in meshes])
            spacing = frame.spacing(meshes[0])
            times.append(frame.mesh_time(meshes[0]))
        if not np.isfinite(values).all():
            raise ValueError(f"{record} has no waves at step {step}: some of its values are not finite")
        shape = values.shape[1:]
        y = np.rint(np.fft.fftfreq(shape[0]) * shape[0]).astype(int)
        x = np.arange(min(most, shape[1] // 2) + 1)
        sizes = 2 * np.sqrt((np.abs(np.fft.rfft2(values)) ** 2).sum(axis=0)) / values[0].size
        found.append(sizes[np.abs(y) <= most][:, x])
    k0 = tuple(2 * np.pi / (n * d) for n, d in zip(reversed(shape), spacing))
    return Modes(np.array(times), x, y[np.abs(y) <= most], np.array(found), k0)


def times_are_even(t: np.ndarray) -> bool:
    steps = np.diff(t)
    return bool(np.all(np.abs(steps - steps[0]) <= 1e-6 * abs(steps[0])))


# ---------------------------------------------------------------- frequencies


def peak_frequency(t: np.ndarray, z: np.ndarray, sign: int, padding: int = 16) -> float:
    """omega of the strongest exp(-i omega t) in z with the given sign of omega (Hann window, zero padding)."""
    if not times_are_even(t):
        raise ValueError("the times are not equidistant")
    n = len(t)
    spectrum = np.abs(np.fft.ifft(z * np.hanning(n + 1)[:n], padding * n))
    omega = 2 * np.pi * np.fft.fftfreq(padding * n, t[1] - t[0])
    return float(omega[np.argmax(np.where(sign * omega > 0, spectrum, 0.0))])


def fit_tones(t: np.ndarray, z: np.ndarray, guesses: Sequence[complex], damped: bool = False,
              iterations: int = 60) -> list[tuple[complex, complex]]:
    """Least-squares fit of z(t) = sum A exp(-i omega t): the frequencies and their standard errors.

    Real frequencies unless `damped`. Errors are (error of Re omega) + i (error of Im omega), from the covariance of the
    residuals; they know nothing of systematic effects. The amplitudes are eliminated (variable projection; Golub and
    Pereyra 1973), the frequencies found by Gauss-Newton.
    """
    return _fit(np.asarray(t, float), np.asarray(z, complex), guesses, damped, False, iterations)


def fit_oscillation(t: np.ndarray, a: np.ndarray, guess: complex, iterations: int = 60) -> tuple[complex, complex]:
    """Least-squares fit of a real a(t) = Re A exp(-i omega t), omega complex: omega and its standard errors."""
    return _fit(np.asarray(t, float), np.asarray(a, float), [guess], True, True, iterations)[0]


def _basis(t: np.ndarray, omegas: np.ndarray, real: bool) -> np.ndarray:
    """Columns of the linear part: for each omega, the real and imaginary part of A."""
    columns = np.exp(-1j * np.outer(t - t[0], omegas))
    if real:
        return np.hstack([columns.real, -columns.imag])
    both = np.hstack([columns, 1j * columns])
    return np.vstack([both.real, both.imag])


def _fit(t, z, guesses, damped, real, iterations):
    omegas = np.array(guesses, dtype=complex)
    data = z if real else np.concatenate([z.real, z.imag])
    count = len(omegas)
    for _ in range(iterations):
        full, residual = _linearise(t, data, omegas, damped, real)
        step = np.linalg.lstsq(full, residual, rcond=None)[0][2 * count:]
        change = step[:count] + (1j * step[count:] if damped else 0)
        limit = np.pi / (t[-1] - t[0])  # half a bin: keeps a step inside the basin
        omegas = omegas + change * np.minimum(1, limit / np.maximum(np.abs(change), 1e-300))
        if np.all(np.abs(change) < 1e-12 * np.maximum(np.abs(omegas), 1e-3)):
            break
    full, residual = _linearise(t, data, omegas, damped, real)
    free = max(len(data) - full.shape[1], 1)
    covariance = np.linalg.pinv(full.T @ full) * (residual @ residual) / free
    sigma = np.sqrt(np.maximum(np.diag(covariance), 0))[2 * count:]
    errors = sigma[:count] + (1j * sigma[count:] if damped else 0)
    return list(zip(omegas.tolist(), np.asarray(errors, complex).tolist()))


def _linearise(t, data, omegas, damped, real):
    """Jacobian [amplitudes, Re omega, Im omega] and residual at the present frequencies."""
    basis = _basis(t, omegas, real)
    linear = np.linalg.lstsq(basis, data, rcond=None)[0]
    count = len(omegas)
    amplitude = linear[:count] + 1j * linear[count:]
    slopes = -1j * (t - t[0])[:, None] * amplitude * np.exp(-1j * np.outer(t - t[0], omegas))
    parts = [slopes] + ([1j * slopes] if damped else [])
    stack = (lambda a: a.real) if real else (lambda a: np.vstack([a.real, a.imag]))
    return np.hstack([basis] + [stack(part) for part in parts]), data - basis @ linear


# ---------------------------------------------------------------- growth and damping


def in_window(t: np.ndarray, window: tuple[float, float]) -> np.ndarray:
    inside = (t >= window[0]) & (t <= window[1])
    if inside.sum() < 3:
        raise ValueError(f"fewer than three outputs in the window {window[0]:g} to {window[1]:g}")
    return inside


def fit_rate(t: np.ndarray, amplitude: np.ndarray, window: tuple[float, float]) -> Estimate:
    """Growth rate: slope of log|amplitude| by least squares inside a window that was fixed beforehand."""
    inside = in_window(t, window)
    x, y = t[inside], np.log(np.abs(amplitude[inside]))
    x0 = x - x.mean()
    slope = (x0 @ y) / (x0 @ x0)
    residual = y - y.mean() - slope * x0
    return Estimate(float(slope), float(np.sqrt(residual @ residual / (len(x) - 2) / (x0 @ x0))))


def window_of_growth(t: np.ndarray, amplitude: np.ndarray) -> tuple[float, float] | None:
    """Where a wave grows with one rate, as far as its amplitude tells: after it has last been below a twentieth of its peak or
    twice its start, until it first exceeds a third of the peak. None: it grows by too little for that, or in fewer than four times."""
    peak = int(np.argmax(amplitude))
    low = np.flatnonzero(amplitude[:peak + 1] < max(amplitude[peak] / 20, 2 * amplitude[0]))
    first = int(low[-1]) + 1 if len(low) else 0
    if first > peak:
        return None
    last = first + int(np.argmax(amplitude[first:] > amplitude[peak] / 3))
    return (float(t[first]), float(t[last])) if last >= first + 3 else None


def growing_wave(t: np.ndarray, waves: Sequence[np.ndarray], window: tuple[float, float]) -> complex:
    """omega + i gamma of waves exp(-i omega t), mean over them: slopes of the phase and of the logarithm in a window."""
    inside, found = in_window(t, window), []
    for wave in waves:
        omega = -np.polyfit(t[inside], np.unwrap(np.angle(wave[inside])), 1)[0]
        found.append(complex(omega, fit_rate(t, np.abs(wave), window).value))
    return complex(np.mean(found))


def mean_estimate(values: Sequence[float]) -> Estimate:
    """Mean over independent runs with the standard error of the mean."""
    array = np.asarray(values, dtype=float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return Estimate(float(array.mean()), float(error))
