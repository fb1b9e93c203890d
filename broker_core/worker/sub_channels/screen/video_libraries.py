"""Libraries that make video: those in the wheel of PyAV, or in the agent's own file, loaded from memory."""

from __future__ import annotations

import ctypes
import os
import zipimport
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_int64, c_long, c_uint, c_ulong, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

IN_AGENT = "video/"
"""Where the agent's own file has them."""
NEEDED = ("libdrm", "libvpl", "libavutil", "libswscale", "libvpx")
"""In the order in which they are loaded: each needs none but those before it and the system's."""
_WHEEL = "av.libs"
_VPX = {
    "vpx_codec_vp9_cx": (c_void_p,),
    "vpx_codec_enc_config_default": (c_int, c_void_p, c_void_p, c_uint),
    "vpx_codec_enc_init_ver": (c_int, c_void_p, c_void_p, c_void_p, c_long, c_int),
    "vpx_codec_enc_config_set": (c_int, c_void_p, c_void_p),
    "vpx_codec_encode": (c_int, c_void_p, c_void_p, c_int64, c_ulong, c_long, c_ulong),
    "vpx_codec_get_cx_data": (c_void_p, c_void_p, c_void_p),
    "vpx_codec_control_": (c_int, c_void_p, c_int),
    "vpx_codec_destroy": (c_int, c_void_p),
    "vpx_codec_err_to_string": (c_char_p, c_int),
    "vpx_img_wrap": (c_void_p, c_void_p, c_int, c_uint, c_uint, c_uint, c_void_p),
    "vpx_img_free": (None, c_void_p),
}
_SWSCALE = {
    "sws_getContext": (c_void_p, *(c_int,) * 7, c_void_p, c_void_p, c_void_p),
    "sws_scale": (c_int, c_void_p, c_void_p, c_void_p, c_int, c_int, c_void_p, c_void_p),
    "sws_freeContext": (None, c_void_p),
}
_AVUTIL = {"av_get_pix_fmt": (c_int, c_char_p)}


class NoVideo(Exception):
    """No video is made on this node; says why."""


class VideoLibraries:
    """Functions of libvpx (VP9), of libswscale, which converts colors, and of libavutil."""

    def __init__(self, vpx: ctypes.CDLL, swscale: ctypes.CDLL, avutil: ctypes.CDLL) -> None:
        for library, functions in ((vpx, _VPX), (swscale, _SWSCALE), (avutil, _AVUTIL)):
            for name, (result, *arguments) in functions.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        self.vpx: Any = vpx
        self.swscale: Any = swscale
        self.avutil: Any = avutil


@cache
def load() -> VideoLibraries:
    """Load them; raises NoVideo."""
    try:
        library_of = _opener()
        loaded = {name: library_of(name) for name in NEEDED}
        return VideoLibraries(loaded["libvpx"], loaded["libswscale"], loaded["libavutil"])
    except (OSError, AttributeError, ImportError) as error:
        raise NoVideo(f"its libraries cannot be loaded ({error})") from error


def _opener() -> Callable[[str], ctypes.CDLL]:
    archive: object = __spec__.loader
    if isinstance(archive, zipimport.zipimporter):
        return lambda name: _from_memory(archive.get_data(f"{IN_AGENT}{name}.so"))
    package = find_spec("av")
    if package is None or package.origin is None:
        raise NoVideo("its Python has no package av")
    folder = Path(package.origin).parents[1] / _WHEEL
    return lambda name: ctypes.CDLL(str(_file(folder, name)))


def _file(folder: Path, name: str) -> Path:
    found = sorted(folder.glob(f"{name}-*.so*"))
    if not found:
        raise NoVideo(f"{folder} has no {name}")
    return found[0]


def _from_memory(content: bytes) -> ctypes.CDLL:
    """Load a library; its file in memory stays open, because the loader knows libraries by their names."""
    file = os.memfd_create("crossdesk-video")
    with open(file, "wb", closefd=False) as writing:
        writing.write(content)
    return ctypes.CDLL(f"/proc/self/fd/{file}")
