"""Waves across B of warm ions with massless electrons: ion Bernstein waves and the fast wave."""

from __future__ import annotations

import numpy as np

HARMONICS = 20


def _scaled_bessel(order: int, argument: float) -> float:
    """exp(-x) I_n(x), by the trapezoid rule, which converges exponentially here."""
    angle = np.pi * (np.arange(512) + 0.5) / 512
    return float(np.mean(np.exp(argument * (np.cos(angle) - 1)) * np.cos(order * angle)))


def dispersion(omega: np.ndarray, k: float, temperature: float, gamma_te: float) -> np.ndarray:
    """D(omega, k), zero on a wave across B: (1 - b)^2 = a (c + k^2 (1 + gamma T_e)/omega).

    The velocity of the ions is u_x = i a E_x + b E_y, u_y = -b E_x + i c E_y, by the susceptibility of a Maxwellian
    for k across B (Stix 1992, ch. 10). Ohm's law has E_y = u_x and E_x = -u_y - i k^2 (1 + gamma T_e) E_y/omega.
    """
    argument = k * k * temperature
    values = np.array([_scaled_bessel(abs(n), argument) for n in range(-HARMONICS - 1, HARMONICS + 2)])
    bessel, slope = values[1:-1], (values[:-2] + values[2:]) / 2
    n = np.arange(-HARMONICS, HARMONICS + 1)
    resonance = 1 / (np.asarray(omega)[:, None] - n)
    a = resonance @ (n * n * bessel / argument)
    b = resonance @ (n * (bessel - slope))
    c = resonance @ (n * n * bessel / argument + 2 * argument * (bessel - slope))
    return (1 - b) ** 2 - a * (c + k * k * (1 + gamma_te) / np.asarray(omega))


def roots(k: float, temperature: float, gamma_te: float, harmonic: int, points: int = 2000) -> list[float]:
    """The frequencies between two harmonics of the gyration; those within 2 % of a harmonic are left out."""
    omega = np.linspace(harmonic + 0.02, harmonic + 0.98, points)
    value = dispersion(omega, k, temperature, gamma_te)
    crossings = np.nonzero(np.sign(value[:-1]) != np.sign(value[1:]))[0]
    return [float(omega[i] - value[i] * (omega[i + 1] - omega[i]) / (value[i + 1] - value[i])) for i in crossings]
