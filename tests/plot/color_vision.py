"""How colors look: contrast (WCAG), colour-blind vision (Machado 2009), distance (CIEDE2000)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color vision
# deficiency" (2009), severity 1.0, in linear RGB.
VISION = {
    "normal": np.eye(3),
    "protan": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
    "deutan": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "tritan": np.array([
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip

TO_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip


def linear(color: str) -> Any:
    """Linear RGB (3,) of a color such as "#1e96ff"."""
    share = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """The contrast ratio of WCAG, from 1 to 21."""
    low, high = sorted(float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (a, b))
    return (high + 0.05) / (low + 0.05)


def simulated(color: str, vision: str) -> tuple[float, float, float]:
    """CIELAB of a color as seen."""
    rgb = np.clip(VISION[vision] @ linear(color), 0.0, 1.0)
    xyz = TO_XYZ @ rgb / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return float(116 * y - 16), float(500 * (x - y)), float(200 * (y - z))


def difference(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """CIEDE2000 of two CIELAB colors, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn) / 2)
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = h1 + h2 if not c1 * c2 else (h1 + turn / 2) % 360
    wave = (
        1 - 0.17 * math.cos(math.radians(hm - 30)) + 0.24 * math.cos(math.radians(2 * hm))
        + 0.32 * math.cos(math.radians(3 * hm + 6)) - 0.20 * math.cos(math.radians(4 * hm - 63))
    )  # fmt: skip
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * wave
    rt = -2 * math.sqrt(cm**7 / (cm**7 + 25**7))
    rt *= math.sin(math.radians(60 * math.exp(-(((hm - 275) / 25) ** 2))))
    dl, dc = (l2 - l1) / sl, (c2 - c1) / sc
    return math.sqrt(dl**2 + dc**2 + (dh / sh) ** 2 + rt * dc * dh / sh)
