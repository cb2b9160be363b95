"""Waves of the hybrid model at any angle to B: frequencies, growth rates and polarisations.

Units and signs are those of theory.py. B0 = 1 points along axis 3, the wave vector is k = (k_perp, 0, k_par), and a
perturbation goes as exp(i (k.x - omega t)): Im omega > 0 is growth. The ions are drifting bi-Maxwellians (theory.Ions).
The electrons have no mass, and their pressure follows the density with the slope dp_e/dn = gamma_te, which is T_e where
they are isothermal and gamma T_e n^(gamma - 1) where they are polytropic.

The linear equations are those of docs/physics/model.md. With N = sum Z n, F = sum Z n V and h = eta + eta_hyper k^2:

    omega b = k x E,   J = i k x b = C.E,   n_e = k.J_i / omega,
    N E = (J - J_i) x B0 - F x b - i k gamma_te n_e + N h J.

J_i = S.E is the current of the ions. S = -i omega chi follows from the susceptibility chi of a drifting bi-Maxwellian
(Stix 1992, Waves in Plasmas, ch. 10, eqs. 10-48 and 10-57). With friction the ions feel b, but of E only the part
without h J. Then J_i = S.E - h S_E.J, where S_E is the current that E alone drives, without the b that goes with it.
All together is a matrix D with D.E = 0, and omega is a root of det D. The displacement current is not in the model,
and charges are neutral, so that D needs no equation of Gauss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .theory import Ions, newton, plasma_z

# ---------------------------------------------------------------- what is in the plasma


@dataclass(frozen=True)
class Plasma:
    """Ions, and electrons without mass, in the uniform field B0 = 1."""

    ions: Sequence[Ions]
    gamma_te: float = 0.0  #: dp_e/dn [B0^2/(mu0 n0)], the square of the speed of sound of the electrons
    eta: float = 0.0
    eta_hyper: float = 0.0
    friction: bool = True  #: electron_friction: the ions do not feel the resistive part of E

    @property
    def electrons(self) -> float:
        """The density of the electrons."""
        return sum(s.charge * s.density for s in self.ions)

    @property
    def flux(self) -> float:
        """The current of the ions along B, which that of the electrons cancels."""
        return sum(s.charge * s.density * s.drift for s in self.ions)


# ---------------------------------------------------------------- response of the ions


def bessel_weights(lam: float) -> np.ndarray:
    """exp(-lam) I_n(lam) for n = 0, 1, ..., up to where it is below 1e-16 of their sum.

    From ratios of neighbours, which the recurrence gives downwards without loss; I_0 + 2 (I_1 + ...) = exp(lam).
    """
    count = int(12 + 9 * np.sqrt(lam))
    ratios, ratio = np.empty(count), 0.0
    for n in range(count, 0, -1):
        ratio = lam / (2 * n + lam * ratio)
        ratios[n - 1] = ratio
    weights = np.concatenate(([1.0], np.cumprod(ratios)))
    return weights / (2 * weights.sum() - 1)


def _one_plus_zeta_z(zeta: np.ndarray) -> np.ndarray:
    """1 + zeta Z(zeta), of full relative accuracy also where zeta is large: there by its asymptotic series."""
    large = np.abs(zeta) > 10
    inverse = np.where(large, 0.5 / np.where(large, zeta, 1) ** 2, 0)
    series, term = np.zeros_like(zeta), np.ones_like(zeta)
    for j in range(1, 15):
        term = term * (2 * j - 1) * inverse
        series = series - term
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = 2j * np.sqrt(np.pi) * zeta * np.exp(-np.where(zeta.imag < 0, zeta, 1e3) ** 2)
    return np.where(large, series + beyond, 1 + zeta * plasma_z(np.where(large, 0, zeta)))


def _parallel_moments(a: np.ndarray, k_par: float, theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of 1, u/theta and u^2/theta, each over (a - k_par u), in a Maxwellian of <u^2> = theta.

    The limits k_par = 0 and theta = 0 are 1/a, k_par/a^2 and 1/a.
    """
    if k_par == 0 or theta == 0:
        return 1 / a, k_par / a**2, 1 / a
    zeta = a / (abs(k_par) * np.sqrt(2 * theta))
    w = _one_plus_zeta_z(zeta)
    return (1 - w) / a, -w / (k_par * theta), -w * a / (k_par**2 * theta)


def conductivity(omega: complex, k_perp: float, k_par: float, s: Ions, magnetic: bool = True) -> np.ndarray:
    """The current of a species for E: J_i = S.E. `magnetic`: the b = k x E/omega of the wave acts too.

    S = i Z^2 n/(m omega) sum_n Y_n with Y_n as Stix (1992), eq. 10-57, written in means over the speeds along B so that
    it holds for T = 0 and for k_par = 0. (His terms that cancel in the sum over n are left out.)
    """
    gyro, drift = s.charge / s.mass, s.drift
    par = s.t_par / s.mass
    perp = (s.t_par if s.t_perp is None else s.t_perp) / s.mass
    lam = perp * (k_perp / gyro) ** 2
    weights = np.concatenate((bessel_weights(lam), [0.0, 0.0]))
    n = np.arange(2 - len(weights), len(weights) - 1)
    order = np.abs(n)
    w, below, above = weights[order], weights[np.abs(order - 1)], weights[order + 1]
    over = np.where(n == 0, 0, (below - above) / (2 * np.maximum(order, 1)))  # w/lam, but 0 for n = 0
    slope = w - (below + above) / 2
    doppler = omega - k_par * drift
    one, u, uu = _parallel_moments(doppler - n * gyro, k_par, par)
    v, vu = drift * one + par * u, drift * u + uu      # means of v and of v u/par
    vv = drift**2 * one + par * (2 * drift * u + uu)   # mean of v^2
    if magnetic:
        across = doppler * one + (perp - par) * k_par * u
        across_v = doppler * v + (perp - par) * k_par * vu
        along = n * gyro * v + perp * (omega - n * gyro) * u
        along_v = k_perp**2 / gyro * n * over * vv + (omega - n * gyro) * w * vu
    else:
        across, across_v, along, along_v = omega * one, omega * v, omega * perp * u, omega * w * vu
    x, x_v, turn = n * n * over, k_perp / gyro * n * over, k_perp / gyro * slope
    rows = [[x @ across, -1j * (n * slope) @ across, x_v @ along],
            [1j * (n * slope) @ across, (x + 2 * lam * slope) @ across, 1j * turn @ along],
            [x_v @ across_v, -1j * turn @ across_v, along_v.sum()]]
    return 1j * s.charge**2 * s.density / (s.mass * omega) * np.array(rows)


# ---------------------------------------------------------------- dispersion relation


def _cross(a: Sequence[complex]) -> np.ndarray:
    """The matrix of b -> a x b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def wave_vector(k: float, angle: float) -> np.ndarray:
    """(k_perp, 0, k_par); the angle to B is in radians. At pi/2 k_par is exactly 0."""
    along = 0.0 if abs(angle - np.pi / 2) < 1e-12 else np.cos(angle)
    return k * np.array([np.sin(angle), 0.0, along])


def _currents(omega: complex, kv: np.ndarray, plasma: Plasma) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """For E: the matrices of b, of the current J, and of the currents of the species."""
    b = _cross(kv) / omega
    j = 1j * _cross(kv) @ b
    h = plasma.eta + plasma.eta_hyper * (kv @ kv)
    species = []
    for s in plasma.ions:
        current = conductivity(omega, kv[0], kv[2], s)
        if h and plasma.friction:
            current = current - h * conductivity(omega, kv[0], kv[2], s, magnetic=False) @ j
        species.append(current)
    return b, j, species


def matrix(omega: complex, k: float, angle: float, plasma: Plasma) -> np.ndarray:
    """D of D.E = 0; see the head of this file."""
    omega, kv = complex(omega), wave_vector(k, angle)
    b, j, species = _currents(omega, kv, plasma)
    ions = sum(species)
    along = np.array([0.0, 0.0, 1.0])
    h = plasma.eta + plasma.eta_hyper * k * k
    return (plasma.electrons * (np.eye(3) - h * j) + _cross(along) @ (j - ions) + plasma.flux * _cross(along) @ b
            + 1j * plasma.gamma_te / omega * np.outer(kv, kv @ ions))


def determinant(omega: complex, k: float, angle: float, plasma: Plasma) -> complex:
    """omega^2 det D, zero on a wave of wave number k at an angle [radians] to B. The factor takes away the pole at
    omega = 0, which would keep Newton's method from slowly growing modes."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return complex(omega**2 * np.linalg.det(matrix(omega, k, angle, plasma)))


def root(k: float, angle: float, plasma: Plasma, guess: complex) -> complex:
    """The complex omega next to `guess`."""
    return newton(lambda omega: determinant(omega, k, angle, plasma), guess, tolerance=1e-10)


# ---------------------------------------------------------------- branches


def follow(ks: Sequence[float] | float, angles: Sequence[float] | float, plasma: Plasma, guess: complex) -> np.ndarray:
    """Roots along a way in k, in the angle, or in both: each is started from the two before."""
    ks, angles = np.broadcast_arrays(np.asarray(ks, float), np.asarray(angles, float))
    roots: list[complex] = []
    for i, (k, angle) in enumerate(zip(ks.ravel(), angles.ravel())):
        start = guess
        if i == 1:
            start = roots[0] * k / ks.ravel()[0]
        elif i > 1:
            way = [float(np.hypot(np.diff(ks)[j], np.diff(angles)[j])) for j in (i - 2, i - 1)]
            start = roots[-1] + (roots[-1] - roots[-2]) * way[1] / way[0]
        roots.append(root(k, angle, plasma, start))
    return np.array(roots)


@dataclass(frozen=True)
class Mode:
    """A root: wave number, angle to B [radians] and complex omega."""

    k: float
    angle: float
    omega: complex


def fastest(plasma: Plasma, k: float, angle: float, guess: complex, turn: bool = True, precision: float = 0.01) -> Mode:
    """The mode of the largest growth rate on a branch: uphill from a root near `guess`, in steps that halve.

    Where nothing grows it ends at a damped mode. `turn`: the angle varies too. `precision`: of log k and of the angle.
    The growth rate, which is flat at its maximum, is far better than that.
    """
    best = Mode(k, angle, root(k, angle, plasma, guess))
    step = 0.2
    while step > precision and best.k > 1e-2 * k:
        ways = [(step, 0), (-step, 0)] + ([(0, step), (0, -step)] if turn else [])
        found = [_neighbour(best, log_k, tilt, plasma) for log_k, tilt in ways]
        uphill = max((mode for mode in found if mode is not None), key=lambda mode: mode.omega.imag, default=best)
        if uphill.omega.imag > best.omega.imag:
            best = uphill
        else:
            step /= 2
    return best


def _neighbour(mode: Mode, log_k: float, tilt: float, plasma: Plasma) -> Mode | None:
    """The mode a step away, if there is a root."""
    k, angle = float(mode.k * np.exp(log_k)), float(np.clip(mode.angle + tilt, 0, np.pi / 2))
    try:
        return Mode(k, angle, root(k, angle, plasma, mode.omega))
    except ArithmeticError:
        return None


def threshold(plasma_of: Callable[[float], Plasma], start: float, towards: float, gamma: float, mode: Mode,
              turn: bool = True, precision: float = 1e-3) -> tuple[float, Mode]:
    """The parameter at which the fastest mode of plasma_of(parameter) grows at the rate `gamma`, and that mode.

    The search follows the branch of `mode` from the parameter `start` on, by the secant method. Its steps are at most
    a quarter of the way `towards` another value, and shorter where the mode beyond would hardly grow.
    `precision`: of the parameter, relative.
    """
    longest = abs(towards - start) / 4
    here, mode = start, fastest(plasma_of(start), mode.k, mode.angle, mode.omega, turn)
    step = (towards - start) / 10
    for _ in range(40):
        found = fastest(plasma_of(here + step), mode.k, mode.angle, mode.omega, turn)
        if found.omega.imag < 0.1 * gamma:
            step /= 2
            continue
        slope = (found.omega.imag - mode.omega.imag) / step
        here, mode = here + step, found
        step = float(np.clip((gamma - mode.omega.imag) / slope, -longest, longest))
        if abs(step) < precision * abs(here):
            return here, mode
    raise ArithmeticError(f"no threshold found from {start}; the last mode at {here}: {mode}")


# ---------------------------------------------------------------- polarisation


@dataclass(frozen=True)
class Polarisation:
    """What oscillates in a wave, with |b| = 1 and the largest component of b real and positive (those of E where there
    is no b). Axis 3 is along B0, axis 1 along k_perp."""

    e: np.ndarray
    b: np.ndarray
    density: tuple[complex, ...]  #: of each species [n0]
    electrons: complex  #: density [n0]

    @property
    def handedness(self) -> float:
        """+1 where b turns about B0 as ions do (L), -1 as electrons do (R), for Re omega > 0; 0 where it is linear."""
        return float(2 * (self.b[0] * np.conj(self.b[1])).imag / (abs(self.b[0]) ** 2 + abs(self.b[1]) ** 2))


def polarisation(mode: Mode, plasma: Plasma) -> Polarisation:
    """E, b and the densities of a root."""
    kv = wave_vector(mode.k, mode.angle)
    e = np.conj(np.linalg.svd(matrix(mode.omega, mode.k, mode.angle, plasma))[2][-1])
    magnetic, _, species = _currents(complex(mode.omega), kv, plasma)
    b = magnetic @ e
    chosen = b if np.linalg.norm(b) > 1e-9 * np.linalg.norm(e) * mode.k / abs(mode.omega) else e
    scale = np.linalg.norm(chosen) * np.exp(1j * np.angle(chosen[np.argmax(np.abs(chosen))]))
    e, b = e / scale, b / scale
    density = tuple(complex(kv @ current @ e / mode.omega) / s.charge for s, current in zip(plasma.ions, species))
    return Polarisation(e, b, density, sum(s.charge * d for s, d in zip(plasma.ions, density)))
