"""The settings of a run: an INI file as text, with the present names of its keys, and numbers that are expressions."""

from __future__ import annotations

import ast
import math
import operator
from configparser import ConfigParser
from typing import TextIO

from .errors import RunError


# Sections, or kinds of sections [KIND.NAME], and their keys: former names and present ones, as in config/reference.md.
FORMER = {
    "fields": {"friction": "electron_friction"},
    "species": {"slowing": "drag_rate", "scattering": "scattering_rate", "energy_cutoff": "lost_below_energy",
                "pitch_min": "lost_below_pitch", "pitch_max": "lost_above_pitch",
                "charge_exchange": "charge_exchange_cross_section", "gas_friction": "gas_drag_rate",
                "electron_exchange": "electron_heat_exchange_rate"},
    "background": {side: f"side_{side}" for side in ("x_min", "x_max", "y_min", "y_max")},
}


def present_name(section: str, key: str) -> str:
    """The present name of a key; the key itself where it is no former name."""
    return FORMER.get(section.partition(".")[0], {}).get(key, key)


def read_settings(stream: TextIO) -> dict[str, dict[str, str]]:
    """The keys of an INI file, as text, by section. Keys that it has under a former name get the present one."""
    parser = ConfigParser(interpolation=None, delimiters=("=",), inline_comment_prefixes=(";",))
    parser.optionxform = str  # names of constants may differ in case alone
    parser.read_file(stream)
    return {section: {present_name(section, key): value for key, value in parser[section].items()}
            for section in parser.sections()}


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "sin": math.sin, "cos": math.cos, "abs": abs, "min": min, "max": max}


def _evaluate(node: ast.expr, constants: dict[str, float]) -> float:
    """The value of a parsed expression; raises ValueError where it depends on more than constants."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.operand, constants))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left, constants), _evaluate(node.right, constants))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return _FUNCTIONS[node.func.id](*(_evaluate(argument, constants) for argument in node.args))
    raise ValueError


def value_of(text: str, constants: dict[str, float]) -> float:
    """The number that an expression of numbers and constants says."""
    try:
        return _evaluate(ast.parse(text.replace("^", "**"), mode="eval").body, constants)
    except (SyntaxError, ValueError, ArithmeticError, TypeError):
        raise RunError(f"{text!r} is not the same number everywhere") from None


def constants_of(settings: dict[str, dict[str, str]]) -> dict[str, float]:
    """What every expression of a run may contain: numbers of the grid and of the run, and those of [const]."""
    known = {name: float(settings["grid"][name]) for name in ("nx", "ny", "lx", "ly")}
    known |= {"dx": known["lx"] / known["nx"], "dy": known["ly"] / known["ny"], "pi": math.pi,
              "dt": float(settings["run"]["dt"])}
    waiting = dict(settings.get("const", {}))
    while waiting:  # each one may contain the others, in any order
        failed = {}
        for name, text in waiting.items():
            try:
                known[name] = value_of(text, known)
            except RunError:
                failed[name] = text
        if len(failed) == len(waiting):
            break  # functions that are not the same number everywhere, for instance tanh
        waiting = failed
    return known
