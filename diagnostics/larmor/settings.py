"""The settings of a run as text: run.ini, with the present names of its keys."""

from __future__ import annotations

from configparser import ConfigParser
from typing import TextIO

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
