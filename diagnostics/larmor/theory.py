"""Linear theory of the hybrid model: frequencies and growth rates that runs are compared with.

Units are the code's: d_i, 1/Omega_ci, v_A, B0, n0; temperatures in B0^2/(mu0 n0), so beta = 2 n T and the thermal
speed of a species is sqrt(T/m). Perturbations go as exp(i (k x - omega t)): Im omega > 0 is growth. B0 points along +x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

# ---------------------------------------------------------------- plasma dispersion function


def _weideman_coefficients(terms: int) -> tuple[float, np.ndarray]:
    """Scale L and polynomial coefficients of Weideman, SIAM J. Numer. Anal. 31 (1994) 1497, eq. (38)."""
    points = 2 * terms
    scale = np.sqrt(terms / np.sqrt(2.0))
    t = scale * np.tan(np.arange(1 - points, points) * np.pi / (2 * points))
    samples = np.concatenate(([0.0], np.exp(-t * t) * (scale**2 + t * t)))
    coefficients = np.real(np.fft.fft(np.fft.fftshift(samples))) / (2 * points)
    return scale, coefficients[terms:0:-1]


_SCALE, _COEFFICIENTS = _weideman_coefficients(64)


def faddeeva(z: complex | np.ndarray) -> np.ndarray:
    """w(z) = exp(-z^2) erfc(-iz), relative error below 1e-12 but next to its zeros in the lower half plane.

    Upper half plane: Weideman's rational expansion; lower: w(z) = 2 exp(-z^2) - w(-z).
    """
    z = np.asarray(z, dtype=complex)
    lower = z.imag < 0
    up = np.where(lower, -z, z)
    ratio = (_SCALE + 1j * up) / (_SCALE - 1j * up)
    poly = np.polyval(_COEFFICIENTS, ratio)
    w = 2 * poly / (_SCALE - 1j * up) ** 2 + 1 / (np.sqrt(np.pi) * (_SCALE - 1j * up))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(lower, 2 * np.exp(-np.where(lower, z, 0) ** 2) - w, w)


def plasma_z(zeta: complex | np.ndarray) -> np.ndarray:
    """Z(zeta) of Fried and Conte (1961), continued analytically to the lower half plane."""
    return 1j * np.sqrt(np.pi) * faddeeva(zeta)


def plasma_z_prime(zeta: complex | np.ndarray) -> np.ndarray:
    """Z'(zeta) = -2 (1 + zeta Z(zeta))."""
    return -2 * (1 + np.asarray(zeta, dtype=complex) * plasma_z(zeta))


# ---------------------------------------------------------------- cold waves


def cold_parallel(k: float | np.ndarray, branch: str, eta: float = 0.0, eta_hyper: float = 0.0,
                  friction: bool = True) -> np.ndarray:
    """omega of the cold R or L wave along B, with resistivity (Hall MHD without inertia of electrons).

    omega^2 - a omega - k^2 f = 0 with a = +-k^2 - i (eta k^2 + eta_hyper k^4), + for R. With friction between electrons
    and ions f = 1. Without it the ions feel the resistive field too: f = 1 -+ i (eta + eta_hyper k^2).
    """
    sign = _branch_sign(branch)
    k = np.asarray(k, dtype=float)
    loss = eta + eta_hyper * k**2
    a = k**2 * (sign - 1j * loss)
    force = 1.0 if friction else 1 - 1j * sign * loss
    omega = (a + np.sqrt(a * a + 4 * k**2 * force)) / 2
    return omega if np.any(loss) else omega.real


@dataclass(frozen=True)
class ColdPlasma:
    """Cold ions of one kind in a uniform field along x."""

    gyration: float = 1.0  #: frequency of the gyration [Omega_ci], below 0 where B points along -x
    length: float = 1.0  #: inertial length [d_i]

    def omega(self, k: float | np.ndarray, branch: str) -> np.ndarray:
        """omega of the R or L wave with wave number k; below 0 where B points along -x. See cold_parallel."""
        return self.gyration * cold_parallel(np.asarray(k) * self.length, branch)


def fast_perpendicular(k: float | np.ndarray, gamma_te: float = 0.0) -> np.ndarray:
    """omega of the cold-ion fast wave across B: k sqrt(1 + gamma T_e), without dispersion."""
    return np.asarray(k, dtype=float) * np.sqrt(1 + gamma_te)


def cold_oblique(k: float, theta: float, gamma_te: float = 0.0) -> np.ndarray:
    """omega of the three waves of cold ions and massless electrons, slowest first; theta [rad] is between k and B.

    Linear Hall MHD with the pressure gamma T_e n gives, with W = (omega/k)^2, c = cos(theta) and g = gamma T_e,

        (W - c^2) [(W - c^2)(W - g) - W sin^2(theta)] = k^2 c^2 W (W - g).

    theta = 0: the sound wave, L and R (cold_parallel). theta = pi/2: fast_perpendicular and two of omega 0.
    """
    c2, g = np.cos(theta)**2, gamma_te
    cubic = [1.0, -(1 + g + c2 + k * k * c2), c2 * (1 + 2 * g + k * k * g), -c2 * c2 * g]
    return k * np.sqrt(np.sort(np.maximum(np.roots(cubic).real, 0.0)))


def _branch_sign(branch: str) -> int:
    signs = {"R": 1, "L": -1}
    if branch not in signs:
        raise ValueError(f"branch must be 'R' or 'L', not {branch!r}")
    return signs[branch]


# ---------------------------------------------------------------- roots


def newton(function: Callable[[complex], complex], guess: complex, tolerance: float = 1e-12,
           iterations: int = 100) -> complex:
    """A root of an analytic function near `guess` (Newton, with a central difference for the slope)."""
    z = complex(guess)
    for _ in range(iterations):
        h = 1e-6 * max(abs(z), 1e-3)
        slope = (function(z + h) - function(z - h)) / (2 * h)
        step = complex(function(z) / slope)
        z -= step
        if not np.isfinite(z):
            break
        if abs(step) <= tolerance * max(abs(z), 1e-3):
            return z
    raise ArithmeticError(f"Newton found no root from {guess}")


def ion_acoustic(ratio: float, guess: complex | None = None) -> complex:
    """omega/(k v_ti) of the ion-acoustic wave with massless electrons: Z'(zeta) = 2 / ratio, ratio = gamma T_e/T_i.

    zeta = omega/(sqrt2 k v_ti), v_ti = sqrt(T_i/m). The least damped root (Stix 1992, ch. 8).
    """
    if guess is None:
        guess = np.sqrt(ratio + 3) - 0.4j
    return np.sqrt(2) * newton(lambda zeta: plasma_z_prime(zeta) - 2 / ratio, guess / np.sqrt(2))


# ---------------------------------------------------------------- parallel waves of drifting bi-Maxwellians


@dataclass(frozen=True)
class Ions:
    """One ion species: density [n0], drift along B [v_A], temperatures along and across B [B0^2/(mu0 n0)]."""

    density: float
    drift: float = 0.0
    t_par: float = 0.0
    t_perp: float | None = None  # like t_par
    charge: float = 1.0
    mass: float = 1.0


def parallel_dispersion(omega: complex, k: float, branch: str, species: Sequence[Ions]) -> complex:
    """D(omega, k), zero on the R or L wave along B; Gary (1993), ch. 7, in the limit of massless electrons.

        D = -k^2 + s n_e (omega - k V_e) + sum Z^2 n/m [xi Z(zeta) + (T_perp/T_par - 1)(1 + zeta Z(zeta))],
        xi = (omega - k V)/(sqrt2 k v_t), zeta = (omega - k V + s Omega)/(sqrt2 k v_t), s = +1 for R, -1 for L,

    with n_e = sum Z n and n_e V_e = sum Z n V: the plasma carries no current. k > 0.
    """
    sign = _branch_sign(branch)
    if k <= 0:
        raise ValueError("k must be positive; a wave to -x is one to +x with the drifts reversed")
    electrons = sum(s.charge * s.density for s in species)
    flux = sum(s.charge * s.density * s.drift for s in species)
    total = -k * k + sign * (electrons * omega - k * flux)
    for s in species:
        total += s.charge**2 * s.density / s.mass * _susceptibility(omega - k * s.drift, k, sign, s)
    return total


def _susceptibility(doppler: complex, k: float, sign: int, s: Ions) -> complex:
    """The bracket of parallel_dispersion for one species; `doppler` is omega - k V."""
    gyro = s.charge / s.mass
    if s.t_par == 0:
        t_perp = s.t_perp or 0.0
        return -doppler / (doppler + sign * gyro) - t_perp / s.mass * k * k / (doppler + sign * gyro) ** 2
    width = np.sqrt(2 * s.t_par / s.mass) * k
    zeta = (doppler + sign * gyro) / width
    z = plasma_z(zeta)
    anisotropy = (s.t_par if s.t_perp is None else s.t_perp) / s.t_par - 1
    return doppler / width * z + anisotropy * (1 + zeta * z)


def parallel_root(k: float, branch: str, species: Sequence[Ions], guess: complex) -> complex:
    """The complex omega next to `guess` of a parallel wave; see parallel_dispersion."""
    return newton(lambda omega: parallel_dispersion(omega, k, branch, species), guess)


def follow(ks: Sequence[float], branch: str, species: Sequence[Ions], guess: complex) -> np.ndarray:
    """Roots along increasing or decreasing k, each started from the two before."""
    roots: list[complex] = []
    for i, k in enumerate(ks):
        start = guess
        if i == 1:
            start = roots[0]
        elif i > 1:
            slope = (roots[-1] - roots[-2]) / (ks[i - 1] - ks[i - 2])
            start = roots[-1] + slope * (k - ks[i - 1])
        roots.append(parallel_root(k, branch, species, start))
    return np.array(roots)


# ---------------------------------------------------------------- decay of an Alfven wave of finite amplitude


def decay_matrix(k: float, k0: float, amplitude: float, sound2: float, branch: str, hall: float = 1.0) -> np.ndarray:
    """The real matrix whose eigenvalues are the omega of perturbations of a circularly polarised wave along +x.

    The mother wave b = B_y + i B_z = amplitude exp(i phi), phi = q x - W t, v = -(q/W) b, with n = 1 and u_x = 0 is an exact
    solution of the fluid equations of cold ions and isothermal electrons, (q, W) = (k0, omega0) for L and (-k0, -omega0) for
    R. Perturbations along x with b = exp(i phi) (amplitude + b1), n1 and u_x ~ exp(i (k x - omega t)), obey a linear system
    with constant coefficients in (n1, u_x, v+, b+, v-, b-): v+ and b+ are the parts of v1 and b1, and v- and b- those of
    their complex conjugates. So a density wave k is coupled to transverse waves q + k and q - k (Terasawa et al. 1986; Wong
    and Goldstein 1986). `sound2` is the square of the sound speed, T_e + 3 T_i where ions are slower than the sound.
    `hall` = 0: MHD, of Derby (1978) and Goldstein (1978).
    """
    sign = _branch_sign(branch)
    omega0 = (sign * hall * k0**2 + np.sqrt((hall * k0**2)**2 + 4 * k0**2)) / 2
    q, w = -sign * k0, -sign * omega0
    flow = -q / w * amplitude
    up, down = k + q, k - q
    a = amplitude
    return np.array([
        [0, k, 0, 0, 0, 0],                                                # continuity
        [k * sound2, 0, 0, k * a / 2, 0, k * a / 2],                       # pressure of electrons, ions and b
        [q * a, q * flow, -w, -up, 0, 0],                                  # tension
        [hall * up * q * a, up * a, -up, -w - hall * up**2, 0, 0],         # induction with the Hall term
        [-q * a, -q * flow, 0, 0, w, -down],
        [hall * down * q * a, down * a, 0, 0, -down, w + hall * down**2]])


def decay(k: float, k0: float, amplitude: float, sound2: float, branch: str, hall: float = 1.0) -> complex:
    """omega of the fastest growing perturbation with wave number k of its density; see decay_matrix."""
    omegas = np.linalg.eigvals(decay_matrix(k, k0, amplitude, sound2, branch, hall))
    return complex(omegas[np.argmax(omegas.imag)])


def decay_kinetic(k: float, k0: float, amplitude: float, t_e: float, t_i: float, branch: str,
                  guess: complex | None = None) -> complex:
    """As decay, with ions of temperature `t_i` that answer to forces along x as kinetic ones do.

    Their potential is psi = T_e n1 + amplitude Re b1, the pressures of the electrons and of b, and n1 = psi Z'(zeta)/(2 T_i),
    zeta = omega/(sqrt2 k v_ti): ions Landau damp the sound. The motion across x is that of the fluid, which needs
    k v_ti well below Omega_ci. The root is the one next to `guess`; without it, the fluid's followed as T_i rises.
    """
    matrix = decay_matrix(k, k0, amplitude, t_e, branch)

    def dispersion(omega: complex, t: float) -> complex:
        transverse = np.linalg.solve(omega * np.eye(4) - matrix[2:, 2:], matrix[2:, 0] + matrix[2:, 1] * omega / k)
        psi = t_e + amplitude / 2 * (transverse[1] + transverse[3])
        return 1 - plasma_z_prime(omega / (np.sqrt(2 * t) * k)) / (2 * t) * psi

    if guess is not None:
        return newton(lambda omega: dispersion(omega, t_i), guess)
    root = decay(k, k0, amplitude, t_e, branch)
    for t in np.geomspace(min(1e-3 * t_e, t_i), t_i, 40):
        root = newton(lambda omega: dispersion(omega, t), root)
    return root


# ---------------------------------------------------------------- cases with a name


def warm(beta: float) -> list[Ions]:
    """One isotropic proton species."""
    return [Ions(1.0, t_par=beta / 2)]


def beam(density: float, speed: float, temperature: float, core: float = 1.0) -> list[Ions]:
    """A core and a beam with relative drift `speed`, in the frame without net momentum (Winske and Leroy 1984)."""
    total = core + density
    return [Ions(core, -density * speed / total, temperature), Ions(density, core * speed / total, temperature)]


def anisotropic(beta_par: float, ratio: float) -> list[Ions]:
    """One bi-Maxwellian proton species with T_perp/T_par = ratio: cyclotron instability or firehose."""
    return [Ions(1.0, t_par=beta_par / 2, t_perp=ratio * beta_par / 2)]


# ---------------------------------------------------------------- shear flows


def shear_layer(k: float, y: np.ndarray, flow: np.ndarray, sound: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Modes exp(i k x - i omega t) of a flow u_x(y) on even points y of a periodic box, without viscosity: omega, the
    fastest growing first, and u_y(y) in the columns of an array. `sound`: the uniform speed of compressive waves.

    Without compression Rayleigh's equation (U - c)(phi'' - k^2 phi) = U'' phi with u_y = phi and c = omega/k; with it
    the linear equations of u_x, u_y and p of Blumen, J. Fluid Mech. 40 (1970) 769. Across a uniform B_z the hybrid
    model has these equations too, with the fast speed. The derivatives are those of trigonometric interpolation.
    """
    count, spacing = len(y), y[1] - y[0]
    slope, curvature = (_derivative(count, spacing, order) for order in (1, 2))
    speeds, one, nothing = np.diag(flow), np.eye(count), np.zeros((count, count))
    if np.isinf(sound):
        laplacian = curvature - k * k * one
        omega, modes = np.linalg.eig(k * np.linalg.solve(laplacian, speeds @ laplacian - np.diag(curvature @ flow)))
    else:
        matrix = np.block([[k * speeds, -1j * np.diag(slope @ flow), k * one], [nothing, k * speeds, -1j * slope],
                           [k * sound**2 * one, -1j * sound**2 * slope, k * speeds]])
        omega, modes = np.linalg.eig(matrix)
        modes = modes[count:2 * count]
    order = np.argsort(-omega.imag)
    return omega[order], modes[:, order]


def _derivative(count: int, spacing: float, order: int) -> np.ndarray:
    """The matrix that differentiates the trigonometric interpolation of values on a periodic grid."""
    k = 2 * np.pi * np.fft.fftfreq(count, spacing)
    if count % 2 == 0 and order % 2 == 1:
        k[count // 2] = 0  # odd derivatives of the highest cosine are 0 on the grid
    return np.fft.ifft((1j * k[:, None])**order * np.fft.fft(np.eye(count), axis=0), axis=0).real
