"""Finds and loads the shared library liblarmor.so, and declares its functions (include/larmor.h)."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path

NAME = "liblarmor.so.0"  # the number changes when the functions below would no longer fit
IN_CHECKOUT = Path(__file__).resolve().parents[2] / "build" / "release" / NAME

TEXT, WHOLE, REAL = c_char_p, POINTER(c_int), POINTER(c_double)
FUNCTIONS = {  # result and arguments
    "larmor_version": (TEXT,),
    "larmor_error": (TEXT,),
    "larmor_open": (c_int, TEXT, c_int, POINTER(TEXT), POINTER(c_void_p)),
    "larmor_close": (None, c_void_p),
    "larmor_begin": (c_int, c_void_p),
    "larmor_restart": (c_int, c_void_p, TEXT),
    "larmor_save": (c_int, c_void_p, POINTER(TEXT)),
    "larmor_step": (c_int, c_void_p, c_int64),
    "larmor_settings": (TEXT, c_void_p),
    "larmor_warnings": (TEXT, c_void_p),
    "larmor_grid": (None, c_void_p, WHOLE, WHOLE, REAL, REAL),
    "larmor_time_step": (c_double, c_void_p),
    "larmor_last_step": (c_int64, c_void_p),
    "larmor_species_count": (c_int, c_void_p),
    "larmor_species_name": (TEXT, c_void_p, c_int),
    "larmor_step_number": (c_int64, c_void_p),
    "larmor_time": (c_double, c_void_p),
    "larmor_backend": (TEXT, c_void_p),
    "larmor_fingerprint": (c_int, c_void_p, POINTER(c_uint64)),
    "larmor_column_count": (c_int, c_void_p),
    "larmor_column_name": (TEXT, c_void_p, c_int),
    "larmor_column_unit": (TEXT, c_void_p, c_int),
    "larmor_column_about": (TEXT, c_void_p, c_int),
    "larmor_row": (c_int, c_void_p, REAL),
    "larmor_array_count": (c_int, c_void_p),
    "larmor_array_name": (TEXT, c_void_p, c_int),
    "larmor_array_place": (c_int, c_void_p, TEXT, REAL, REAL, REAL),
    "larmor_array_copy": (c_int, c_void_p, TEXT, REAL),
    "larmor_array_view": (c_int, c_void_p, TEXT, POINTER(c_void_p), POINTER(c_int64)),
    "larmor_species": (c_int, c_void_p, TEXT, POINTER(c_uint64), REAL, REAL, REAL),
    "larmor_particles": (c_int, c_void_p, TEXT, c_uint64, c_uint64, REAL, REAL, REAL, REAL, REAL),
}


class LarmorError(RuntimeError):
    """The library has refused something; the message is the library's. `status`: 1 the simulation cannot go on, 2 wrong
    input, 3 too little memory for the particles of the next step (enum larmor_status)."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


def _open_library(name: str) -> ctypes.CDLL:
    """Threads of GNU OpenMP that wait for others should sleep soon, as in the program (src/base/threads.h). The setting
    is read once, when the library is loaded."""
    chosen = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
    if not chosen:
        os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        return ctypes.CDLL(name)
    finally:
        if not chosen:
            del os.environ["GOMP_SPINCOUNT"]


@lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library: $LARMOR_LIBRARY, or that of the checkout in which this package lies, or the one that the system's
    loader finds."""
    asked = os.environ.get("LARMOR_LIBRARY")
    name = asked or (str(IN_CHECKOUT) if IN_CHECKOUT.exists() else NAME)
    try:
        loaded = _open_library(name)
        for function, (result, *arguments) in FUNCTIONS.items():
            getattr(loaded, function).restype = result
            getattr(loaded, function).argtypes = arguments
    except (OSError, AttributeError) as error:
        where = "LARMOR_LIBRARY names it" if asked else "run make in a checkout of Larmor, or make install"
        raise LarmorError(f"the library of Larmor cannot be loaded: {error} ({where}; LARMOR_LIBRARY may hold the path "
                          f"of {NAME})") from None
    return loaded


_one_call = threading.RLock()  # the library allows one call at a time


def call(function: str, *arguments: object) -> object:
    """Calls a function that has no status."""
    with _one_call:
        return getattr(library(), function)(*arguments)


def must(function: str, *arguments: object) -> None:
    """Calls a function that returns a status; raises LarmorError with the library's message."""
    with _one_call:
        status = getattr(library(), function)(*arguments)
        if status:
            raise LarmorError(library().larmor_error().decode(), status)


def text(function: str, *arguments: object) -> str:
    return call(function, *arguments).decode()


def open_simulation(file: str, overrides: list[str]) -> c_void_p:
    """The handle of an opened simulation, which larmor_close frees."""
    handle = c_void_p()
    must("larmor_open", os.fsencode(file), len(overrides), (TEXT * len(overrides))(*map(os.fsencode, overrides)),
         byref(handle))
    return handle
