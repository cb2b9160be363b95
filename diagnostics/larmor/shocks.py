"""Fast shocks: the jump conditions of ideal MHD, and the orbits of ions that a shock reflects.

Units are those of theory.py, with n = B = v_A = 1 upstream. `theta` is the angle between B and the normal of the shock, in
radians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


def _bisect(is_below: Callable[[float], bool], low: float, high: float) -> float:
    """Where is_below turns from true to false between low and high, to round-off: the side where it is false."""
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return high


@dataclass(frozen=True)
class Jump:
    """A fast MHD shock in the frame where it stands and the plasma comes along the normal; upstream n = B = v_A = 1."""

    mach: float  #: Alfven Mach number, the speed of the plasma that comes in
    compression: float  #: n2/n1
    b_normal: float  #: of B, the same on both sides
    b_tangential: float  #: of B downstream
    v_tangential: float  #: downstream, along the tangential B; 0 upstream
    pressure: float  #: downstream

    @property
    def field(self) -> float:
        """B2/B1."""
        return float(np.hypot(self.b_normal, self.b_tangential))

    @property
    def wall_speed(self) -> float:
        """The speed of the incoming plasma in the frame in which the downstream does not move along the normal."""
        return self.mach * (1 - 1 / self.compression)

    @property
    def shock_speed(self) -> float:
        """The speed of the shock in that frame, away from the wall."""
        return self.mach / self.compression


def shock_jump(mach: float, beta: float, theta: float = np.pi / 2, gamma: float = 5 / 3) -> Jump:
    """The jump conditions of ideal MHD (Rankine-Hugoniot) for a fast shock; `theta` between B and the normal, in radians.

    With X = n2/n1, s = sin theta, c = cos theta, a^2 = gamma beta/2 (Tidman and Krall 1971, ch. 1):

        (M^2 - X c^2)^2 {[g + 1 - (g - 1) X] M^2 - 2 X a^2}
            = X s^2 M^2 {[g + (2 - g) X] M^2 - [g + 1 - (g - 1) X] X c^2}

    Across B this is (2 - g) X^2 + [g (beta + 1) + (g - 1) M^2] X - (g + 1) M^2 = 0.
    """
    m2, s2, c2 = float(mach) ** 2, float(np.sin(theta)) ** 2, float(np.cos(theta)) ** 2
    x, free = np.poly1d([1, 0]), np.poly1d([-(gamma - 1), gamma + 1])
    gas = (m2 - x * c2) ** 2 * (free * m2 - gamma * beta * x)
    field = x * s2 * m2 * (np.poly1d([2 - gamma, gamma]) * m2 - free * x * c2)
    roots = [float(r.real) for r in (gas - field).roots if abs(r.imag) < 1e-6 * abs(r)]
    fast = [r for r in roots if r > 1 and r * c2 < m2 * (1 - 1e-6)]  # faster than Alfven waves downstream too
    if not fast:
        raise ValueError(f"no fast shock at M = {mach:g}, beta = {beta:g}, theta = {np.degrees(theta):g} degrees")
    compression = min(fast)
    tangential = np.sqrt(s2) * compression * (m2 - c2) / (m2 - compression * c2)
    slip = np.sqrt(c2) * (tangential - np.sqrt(s2)) / mach
    pressure = beta / 2 + m2 * (1 - 1 / compression) + (s2 - tangential**2) / 2
    return Jump(float(mach), compression, float(np.sqrt(c2)), float(tangential), float(slip), float(pressure))


def wall_shock(speed: float, beta: float, theta: float = np.pi / 2, gamma: float = 5 / 3) -> Jump:
    """The shock of a plasma that flows onto a wall with `speed`: that of which Jump.wall_speed is `speed`."""
    def is_too_slow(mach: float) -> bool:
        try:
            return shock_jump(mach, beta, theta, gamma).wall_speed < speed
        except ValueError:
            return True

    mach = _bisect(is_too_slow, speed, 2 * speed + 10 * float(np.sqrt(1 + gamma * beta)))
    return shock_jump(mach, beta, theta, gamma)


class IonMoments(NamedTuple):
    """Means over a volume ahead of a shock. x points from there to the wall, y along the tangential B; velocities are those
    in the frame of the wall."""

    density: float  #: n
    flux: float  #: n <v_x>
    momentum_y: float  #: n <v_y>
    stress_xx: float  #: n <v_x v_x>
    stress_xy: float  #: n <v_x v_y>
    energy: float  #: n <v^2>/2
    energy_flux: float  #: n <v_x v^2>/2

    @staticmethod
    def of(v: np.ndarray, density: float) -> IonMoments:
        """Ions with velocities v[axis, particle], which have this density together."""
        n, square = density, (v**2).sum(axis=0)
        return IonMoments(n, n * v[0].mean(), n * v[1].mean(), n * (v[0] ** 2).mean(), n * (v[0] * v[1]).mean(),
                          n * square.mean() / 2, n * (v[0] * square).mean() / 2)

    @staticmethod
    def of_plasma(speed: float, slip: float, temperature: float) -> IonMoments:
        """Plasma with n = 1 that flows with (speed, -slip)."""
        energy = (speed**2 + slip**2 + 3 * temperature) / 2
        return IonMoments(1, speed, -slip, speed**2 + temperature, -speed * slip, energy, speed * (energy + temperature))


@dataclass(frozen=True)
class WallJump:
    """A shock that runs away from a wall, before which the plasma does not move along the normal."""

    compression: float  #: n2/n1
    b_tangential: float  #: behind the shock
    shock_speed: float  #: away from the wall


def wall_shock_with_escape(speed: float, slip: float, beta: float, theta: float, gamma: float, ions: IonMoments) -> WallJump:
    """The shock of a plasma that flows onto a wall with (speed, -slip), and from which ions escape. `ions`: what all ions
    ahead of it have beyond those of the undisturbed plasma. With the velocity -V of the shock and u_x = 0 behind it:

        n1 (U + V) + N = n2 V
        n1 (U + V) U + p1 + b1^2/2 + P_x = p2 + b2^2/2
        -n1 (U + V) slip - B_x b1 + P_y = n2 V u2 - B_x b2
        V b1 + U b1 + slip B_x = V b2 - u2 B_x
        (U + V) [n1 (U^2 + slip^2)/2 + p1/(g - 1)] + U p1 + V b1^2/2 + (U b1 + slip B_x) b1 + Q
            = V [n2 u2^2/2 + p2/(g - 1) + b2^2/2] - u2 B_x b2

    with b = B_y, u = u_y, and the fluxes N, P, Q of `ions` through a surface that moves with the shock. Waves ahead of the
    shock and electrons that they compress are left out. Where nothing escapes and slip is v_tangential of wall_shock, the
    result is that of wall_shock."""
    b_x, b1, p1 = float(np.cos(theta)), float(np.sin(theta)), beta / 2
    inflow_of_b = speed * b1 + slip * b_x

    def behind(v: float) -> tuple[float, float, float]:
        """n2, b2, and the energy that would be missing for a shock with this speed."""
        n2 = (speed + v + ions.flux + v * ions.density) / v
        stress_y = ions.stress_xy + v * ions.momentum_y - (speed + v) * slip - b_x * b1
        b2, u2 = np.linalg.solve([[v, -b_x], [-b_x, n2 * v]], [v * b1 + inflow_of_b, stress_y])
        p2 = (speed + v) * speed + p1 + (b1**2 - b2**2) / 2 + ions.stress_xx + v * ions.flux
        came = ((speed + v) * ((speed**2 + slip**2) / 2 + p1 / (gamma - 1)) + speed * p1 + v * b1**2 / 2
                + inflow_of_b * b1 + ions.energy_flux + v * ions.energy)
        return n2, float(b2), float(v * (n2 * u2**2 / 2 + p2 / (gamma - 1) + b2**2 / 2) - u2 * b_x * b2 - came)

    fast = wall_shock(speed, beta, theta, gamma).shock_speed
    low, high = fast / 3, 1.2 * fast
    if behind(low)[2] > 0 or behind(high)[2] < 0:
        raise ValueError("the ions that escape leave no shock")
    shock_speed = _bisect(lambda v: behind(v)[2] < 0, low, high)
    n2, b2, _ = behind(shock_speed)
    return WallJump(n2, b2, shock_speed)


def crossing(x: np.ndarray, values: np.ndarray, level: float) -> float:
    """Where values, B for example, first pass `level`, coming from the upstream, where x[0] is."""
    k = int(np.argmax(values > level))
    return float(np.interp(level, values[k - 1:k + 1], x[k - 1:k + 1]))


@dataclass(frozen=True)
class Reflected:
    """Ions that a shock reflects like a mirror: how far they get ahead of the shock, and when they are back."""

    distance: float  #: [upstream speed along the normal over Omega_ci]
    time: float  #: [1/Omega_ci]


def specular_reflection(theta: float = np.pi / 2) -> Reflected:
    """From the orbit x = 2 sin^2 theta sin t + (2 cos^2 theta - 1) t ahead of the shock, in the frame where it stands;
    `theta` between B and the normal, in radians (Schwartz, Thomsen and Gosling 1983; Gosling and Thomsen 1985). Across B
    the distance is sqrt3 - pi/3 = 0.68 (Livesey, Russell and Kennel 1984)."""
    s2, drift = 2 * float(np.sin(theta)) ** 2, 2 * float(np.cos(theta)) ** 2 - 1
    turn = float(np.arccos(-drift / s2)) if drift < s2 else np.pi
    low, high = turn, 2 * np.pi - turn  # farthest from the shock, and closest again
    if s2 * np.sin(high) + drift * high > 0:
        raise ValueError("below 39.9 degrees reflected ions do not return")
    back = _bisect(lambda t: s2 * np.sin(t) + drift * t > 0, low, high)
    return Reflected(s2 * float(np.sin(turn)) + drift * turn, back)
